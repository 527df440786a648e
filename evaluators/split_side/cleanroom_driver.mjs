// What hidden tests in JavaScript may use, on the trusted side; submitted code runs in another unit, as another account.
//
//   import test from 'node:test';
//   import assert from 'node:assert/strict';
//   import { submitted } from 'cleanroom-driver';
//
//   const parse = submitted('./index.js:default');
//   test('an hour', () => assert.equal(parse('1h'), 3600000));
//
// Calls block and give plain data by value; a promise over there is waited for. What submitted code throws is a
// RaisedError: `kind` is its class, `kinds` it and the classes above, `said` its message.
import { decode, encode } from './plain.mjs';

export class SubmittedError extends Error {
  name = 'SubmittedError';
}

export class RaisedError extends SubmittedError {
  name = 'RaisedError';

  constructor({ type, kinds, said }) {
    super(`it raised ${type}: ${said}`);
    Object.assign(this, { kind: type, kinds, said });
  }
}

let wire, task, count = 0;

export function begin(line, given) {
  [wire, task] = [line, given];
}

function ask(request) {
  const number = ++count;
  wire.send({ ...request, number });
  const answer = wire.receive();
  if (answer === null || 'gone' in answer) throw new SubmittedError(`the submitted side has ended: ${answer?.gone}`);
  if (answer.number !== number) throw new Error('an answer to another question');
  return answer;
}

function value(answer, name) {
  if ('value' in answer) return decode(answer.value);
  if (answer.raised) throw new RaisedError(answer.raised);
  throw new SubmittedError(`${name} gave ${answer.unplain ?? 'no value'}`);
}

function outward(each) {
  return each instanceof Remote ? { tuple: ['cleanroom object', each.number] } : encode(each);
}

function callable(request, name) {
  const send = (args, how) => ask({ ask: 'call', ...request, args: args.map(outward), named: { dict: [] }, ...how });
  return Object.assign((...args) => value(send(args), name), {
    // Gives all that its iterator gives.
    listed: (...args) => value(send(args, { listed: true }), name),
    // Gives its value and its arguments as they are afterwards.
    mutating: (...args) => {
      const answer = send(args, { after: true });
      return [value(answer, name), decode(answer.after)];
    },
    // Keeps what it gives over there, to work with by `method` and `read`; a class is called with `new`.
    kept: (...args) => {
      const answer = send(args, { kept: true });
      return 'object' in answer ? new Remote(answer.object) : value(answer, name);
    },
  });
}

class Remote {
  constructor(number) {
    this.number = number;
  }

  method(name) {
    return callable({ object: this.number, path: name.split('.') }, name);
  }

  read(name) {
    return callable({ object: this.number, path: name.split('.'), read: true }, name)();
  }
}

// Gives a function of the submission, by 'module:export' or 'module:export.method'.
export function submitted(name) {
  const at = name.lastIndexOf(':');
  if (at < 1) throw new Error(`${name} is not 'module:export'`);
  return callable({ module: name.slice(0, at), path: name.slice(at + 1).split('.') }, name);
}

// Ends the submitted process and all it started; the next call meets a fresh one.
export function restart() {
  if (ask({ ask: 'restart' }).restarted !== true) throw new SubmittedError('the submitted side did not start again');
}

// Gives a file of the submission as it was captured, whatever has happened since; null where there is none.
export function read(path) {
  const { content } = ask({ ask: 'read', path });
  return content === null ? null : Buffer.from(content, 'base64');
}

export const changed = () => task.changed;
export const finalMessage = () => task.message;
