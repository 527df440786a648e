// Frames, as in wire.py: a 4-byte big-endian length, then so many bytes of JSON in UTF-8. Everything blocks.
import { readSync, writeSync } from 'node:fs';

const LONGEST = 16 << 20;

// What submitted code does to the globals of its process changes what it tells, which is believed in nothing anyway.
export class Wire {
  #inward;
  #outward;

  constructor(inward, outward) {
    this.#inward = inward;
    this.#outward = outward;
  }

  send(frame) {
    const text = Buffer.from(JSON.stringify(frame));
    if (text.length > LONGEST) throw new RangeError('more than 16 MiB of data');
    const data = Buffer.alloc(4 + text.length);
    data.writeUInt32BE(text.length);
    text.copy(data, 4);
    for (let at = 0; at < data.length;) at += writeSync(this.#outward, data, at);
  }

  // Gives null where the other side has closed.
  receive() {
    const length = this.#read(4)?.readUInt32BE() ?? null;
    const data = length === null ? null : this.#read(length);
    return data === null ? null : JSON.parse(data.toString(), exact);
  }

  #read(count) {
    const data = Buffer.alloc(count);
    for (let at = 0; at < count;) {
      const more = readSync(this.#inward, data, at, count - at, null);
      if (more === 0) return null;
      at += more;
    }
    return data;
  }
}

// An integer that no number holds exactly becomes a BigInt, which plain.mjs refuses: nothing is rounded in silence.
function exact(key, value, context) {
  const long = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '');
  return long ? BigInt(context.source) : value;
}
