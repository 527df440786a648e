// What holds now and must hold afterwards.
import assert from 'node:assert/strict';
import test from 'node:test';
import { submitted } from 'cleanroom-driver';

const bytes = submitted('./index.js:default');
const format = submitted('./index.js:default.format');
const parse = submitted('./index.js:default.parse');

test('whole numbers are grouped', () => {
  assert.equal(bytes(1000, { thousandsSeparator: ',' }), '1,000B');
  assert.equal(bytes(1000000, { thousandsSeparator: ' ', unit: 'B' }), '1 000 000B');
  assert.equal(bytes(1234567, { unit: 'B', thousandsSeparator: '.' }), '1.234.567B');
});

test('numbers with few decimals are grouped', () => {
  assert.equal(bytes(1000.12, { decimalPlaces: 2, thousandsSeparator: ',', unit: 'B' }), '1,000.12B');
});

test('nothing is grouped where nobody asks', () => {
  assert.equal(format(1024), '1KB');
  assert.equal(format(1234.5678, { unit: 'B', decimalPlaces: 4 }), '1234.5678B');
});

test('decimals are kept or left out', () => {
  assert.equal(bytes(1024 * 1024 * 1.5, { decimalPlaces: 2, fixedDecimals: true }), '1.50MB');
  assert.equal(format(0, { thousandsSeparator: ',' }), '0B');
});

test('texts are read', () => {
  assert.equal(bytes('1.5KB'), 1536);
  assert.equal(parse('1 TB'), 1099511627776);
});

test('what is no number', () => {
  assert.equal(bytes(NaN), null);
  assert.equal(format('12'), null);
});
