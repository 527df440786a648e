// The trusted side of `node-test`: runs hidden test modules by Node's own test runner and tells what came of each test.
// Submitted code never runs in this process, nor in this unit.
import { registerHooks } from 'node:module';
import { basename } from 'node:path';
import { run } from 'node:test';
import { begin } from './cleanroom_driver.mjs';
import { Wire } from './wire.mjs';

const DETAIL = 500;

const [inward, outward, text] = process.argv.splice(2);
const task = JSON.parse(text);
const wire = new Wire(Number(inward), Number(outward));
begin(wire, task);

const driver = new URL('./cleanroom_driver.mjs', import.meta.url).href;
registerHooks({
  resolve: (name, context, next) => (name === 'cleanroom-driver' ? next(driver, context) : next(name, context)),
});

wire.send({ tell: 'started' });
const above = [];
let whole = true;
for await (const { type, data } of run({ files: task.tests, isolation: 'none', concurrency: false })) {
  if (type === 'test:start') above.splice(data.nesting, Infinity, data.name);
  if (type === 'test:pass' || type === 'test:fail') tell(type === 'test:pass', data);
}
if (whole) wire.send({ tell: 'done' });
process.exitCode = 0;

// Suites, and modules as a whole (which have no `file`), are no cases; that one of them fails is never a pass.
function tell(passed, { nesting, file, skip, todo, details }) {
  const error = details.error?.cause ?? details.error;
  if (details.type === 'suite' || file === undefined) {
    if (!passed && whole) wire.send({ tell: 'trouble', detail: `a suite or module failed: ${why(error)}` });
    whole &&= passed;
    return;
  }
  const names = above.slice(0, nesting + 1).join(' > ');
  wire.send({
    tell: 'case',
    id: task.tests.length > 1 ? `${basename(file)}: ${names}` : names,
    passed: passed && skip === undefined && todo === undefined,
    detail: passed ? '' : why(error),
    ms: Math.round(details.duration_ms),
  });
}

// What was expected stands in an assertion's message, which stays here.
function why(error) {
  const isTold = error?.name === 'SubmittedError' || error?.name === 'RaisedError';
  return (isTold ? `${error.name}: ${error.message}` : String(error?.name ?? typeof error)).slice(0, DETAIL);
}
