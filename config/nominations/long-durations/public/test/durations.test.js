import assert from 'node:assert/strict';
import test from 'node:test';
import parse from '../index.js';

test('an hour and a half', () => {
  assert.equal(parse('1h 30m'), 5400000);
  assert.equal(parse('1h30'), 5400000);
});

test('in another unit', () => {
  assert.equal(parse('90 minutes', 'h'), 1.5);
});

test('units in capitals and in the plural', () => {
  assert.equal(parse('2 HOURS'), 7200000);
});

test('a long number', () => {
  assert.equal(parse('20000000000000000000ms'), 2e19);
});

test('another unit in capitals', () => {
  assert.equal(parse('2h', 'H'), 2);
});
