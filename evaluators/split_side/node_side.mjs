// The submitted side where the toolchain is Node: serves calls of what submitted modules export. serving.py starts it,
// a process for each restart, and never runs submitted code itself. Nothing that is told here is believed.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { decode, encode, NotPlainError } from './plain.mjs';
import { Wire } from './wire.mjs';

const MOST_ITEMS = 1_000_000;
const MOST_BYTES = 4 << 20;
const MESSAGE = 500;
const RESTARTED = 99;

const [inward, outward, text] = process.argv.splice(2);
const task = JSON.parse(text);
const wire = new Wire(Number(inward), Number(outward));
const kept = new Map();

process.chdir(task.directory);
for (let request; (request = wire.receive()) !== null;) {
  if (request.ask === 'restart') {
    wire.send({ restarted: true });
    process.reallyExit(RESTARTED);
  }
  const answer = request.ask === 'run' ? run(request) : await call(request);
  try {
    wire.send(answer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    wire.send({ unplain: error.message });
  }
}
process.reallyExit(0);

async function call(request) {
  let target, args;
  try {
    if (request.named.dict.length) throw new NotPlainError('named arguments, which JavaScript has none of');
    args = request.args.map(argument);
    target = await found(request);
  } catch (error) {
    return failed(error);
  }
  try {
    let value = target(args);
    if (types.isPromise(value)) value = await value;
    if (request.listed) value = await listed(value);
    if (request.kept) return keep(value);
    const answer = { value: encode(value) };
    if (request.after) answer.after = encode(args);
    return answer;
  } catch (error) {
    return failed(error);
  }
}

// Gives a function of the arguments; methods are called on what they belong to, and classes with `new`.
async function found(request) {
  let owner, value = 'object' in request ? kept.get(request.object) : await module(request.module);
  request.path.forEach((name, at) => {
    owner = value;
    value = value[name];
    // What a CommonJS module exports may be known by its default alone.
    if (value === undefined && at === 0 && 'module' in request) value = (owner = owner.default)?.[name];
  });
  if (request.read) return () => value;
  if (typeof value !== 'function') throw new TypeError(`${request.path.join('.')} is not a function`);
  const isClass = Function.prototype.toString.call(value).startsWith('class');
  return (args) => (isClass ? Reflect.construct(value, args) : Reflect.apply(value, owner, args));
}

function module(name) {
  const isPath = name.startsWith('./') || name.startsWith('../');
  return import(isPath ? pathToFileURL(resolve(task.imports[0], name)).href : name);
}

function argument(value) {
  const pair = value?.tuple;
  return pair?.[0] === 'cleanroom object' ? kept.get(pair[1]) : decode(value);
}

async function listed(value) {
  const items = [];
  for await (const each of value) if (items.push(each) === MOST_ITEMS) break;
  return items;
}

function keep(value) {
  const number = kept.size + 1;
  kept.set(number, value);
  return { object: number, type: String(value?.constructor?.name ?? typeof value) };
}

function failed(error) {
  if (error instanceof NotPlainError) return { unplain: error.message };
  if (!types.isNativeError(error)) return { raised: { type: typeof error, kinds: [typeof error], said: said(error) } };
  const kinds = [];
  for (let above = error; (above = Object.getPrototypeOf(above)) && above !== Object.prototype;) {
    kinds.push(String(above.constructor?.name));
  }
  return { raised: { type: kinds[0] ?? 'Error', kinds, said: said(error.message) } };
}

function said(value) {
  try {
    return String(value).slice(0, MESSAGE);
  } catch {
    return '';
  }
}

function run(request) {
  for (const [path, content] of Object.entries(request.files ?? {})) {
    const place = resolve(task.directory, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, Buffer.from(content, 'base64'));
  }
  const [program, ...rest] = request.argv;
  const ended = spawnSync(program, rest, {
    cwd: task.directory,
    env: task.environment,
    input: Buffer.from(request.stdin ?? '', 'base64'),
    maxBuffer: MOST_BYTES,
    timeout: request.within ? request.within * 1000 : undefined,
    killSignal: 'SIGKILL',
  });
  if (ended.error?.code === 'ETIMEDOUT') return { late: true };
  if (ended.error && ended.status === null && ended.error.code !== 'ENOBUFS') return { unstarted: ended.error.message };
  return {
    status: ended.status ?? -1,
    stdout: ended.stdout.toString('base64'),
    stderr: ended.stderr.toString('base64'),
    files: Object.fromEntries((request.wanted ?? []).map((path) => [path, file(resolve(task.directory, path))])),
  };
}

function file(place) {
  let descriptor;
  try {
    descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return readFileSync(descriptor).subarray(0, MOST_BYTES).toString('base64');
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
