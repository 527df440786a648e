// Plain data in JavaScript, written as plain.py has it. What Python has no like of crosses as {"foreign": [kind, value]}.
//
// A number that is a safe integer crosses as an integer, every other one as a float. Objects with the prototype of
// Object or none cross by their own enumerable text keys; class instances, functions, symbols, errors, promises,
// wrappers, arrays with holes or properties of their own, and other views than Uint8Array are not plain.
import { types } from 'node:util';

const DEEPEST = 100;

export class NotPlainError extends Error {}

export function encode(value, depth = 0) {
  if (depth > DEEPEST) throw new NotPlainError('a value that nests too deep');
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'undefined':
      return { foreign: ['undefined', null] };
    case 'bigint':
      return { foreign: ['bigint', String(value)] };
    case 'number':
      return number(value);
    case 'object':
      return value === null ? null : object(value, depth + 1);
    default:
      throw new NotPlainError(`a ${typeof value}, which is no plain data`);
  }
}

function number(value) {
  if (Object.is(value, -0)) return { float: '-0.0' };
  if (Number.isNaN(value)) return { float: 'nan' };
  if (!Number.isFinite(value)) return { float: value > 0 ? 'inf' : '-inf' };
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? { float: value.toExponential() } : value;
}

function object(value, depth) {
  const above = Object.getPrototypeOf(value);
  if (Array.isArray(value) && above === Array.prototype) return list(value, depth);
  if (types.isUint8Array(value)) return { bytes: Buffer.from(value).toString('base64') };
  if (types.isDate(value)) return { foreign: ['date', number(Date.prototype.getTime.call(value))] };
  if (types.isMap(value) && above === Map.prototype) {
    return { foreign: ['map', [...value].map((pair) => pair.map((each) => encode(each, depth)))] };
  }
  if (types.isSet(value) && above === Set.prototype) {
    return { foreign: ['set', [...value].map((each) => encode(each, depth))] };
  }
  if (above !== Object.prototype && above !== null) {
    throw new NotPlainError(`a ${above.constructor?.name || 'value'}, which is no plain data`);
  }
  if (Object.getOwnPropertySymbols(value).length) throw new NotPlainError('an object with symbols for keys');
  return { dict: Object.keys(value).map((key) => [key, encode(value[key], depth)]) };
}

function list(value, depth) {
  if (Object.keys(value).length !== value.length) {
    throw new NotPlainError('an array with holes or properties of its own, which is no plain data');
  }
  return value.map((each) => encode(each, depth));
}

const READERS = {
  float: (inside) => Number(inside.replace('inf', 'Infinity')),
  tuple: (inside) => inside.map(decode),
  set: (inside) => new Set(inside.map(decode)),
  frozenset: (inside) => new Set(inside.map(decode)),
  bytes: (inside) => new Uint8Array(Buffer.from(inside, 'base64')),
  dict: (inside) => Object.fromEntries(inside.map(([key, value]) => [text(key), decode(value)])),
  foreign: ([kind, value]) => foreign(kind, decode(value)),
};

export function decode(value) {
  if (typeof value === 'bigint') throw new NotPlainError('an integer beyond 2**53 - 1; send a float or a bigint');
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(decode);
  const [tag, inside] = Object.entries(value)[0] ?? [];
  if (!Object.hasOwn(READERS, tag)) throw new NotPlainError(`a ${tag}, which JavaScript has no like of`);
  return READERS[tag](inside);
}

function text(key) {
  if (typeof key !== 'string') throw new NotPlainError('keys that are no texts; send a map');
  return key;
}

function foreign(kind, value) {
  switch (kind) {
    case 'undefined':
      return undefined;
    case 'bigint':
      return BigInt(value);
    case 'date':
      return new Date(value);
    case 'map':
      return new Map(value);
    case 'set':
      return new Set(value);
    default:
      throw new NotPlainError(`a foreign ${kind}`);
  }
}
