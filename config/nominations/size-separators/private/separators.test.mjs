// What must hold afterwards and does not hold now; asked from outside, where no expected text is.
import assert from 'node:assert/strict';
import test from 'node:test';
import { submitted } from 'cleanroom-driver';

const bytes = submitted('./index.js:default');
const format = submitted('./index.js:default.format');

test('four decimals', () => {
  assert.equal(bytes(1000.1234, { decimalPlaces: 4, thousandsSeparator: ',', unit: 'B' }), '1,000.1234B');
  assert.equal(bytes(9876.54321, { decimalPlaces: 4, thousandsSeparator: ',', unit: 'B' }), '9,876.5432B');
});

test('a negative number', () => {
  assert.equal(bytes(-1234.5678, { decimalPlaces: 4, thousandsSeparator: ',', unit: 'B' }), '-1,234.5678B');
});

test('another separator', () => {
  assert.equal(format(1234567.12345, { unit: 'B', decimalPlaces: 5, thousandsSeparator: ' ' }), '1 234 567.12345B');
});

test('six decimals below a thousand', () => {
  assert.equal(format(1073741824 * 1.23456789, { unit: 'GB', decimalPlaces: 6, thousandsSeparator: ',' }), '1.234568GB');
});

test('seven decimals', () => {
  assert.equal(format(123456789, { unit: 'MB', decimalPlaces: 7, thousandsSeparator: '_' }), '117.7375689MB');
});

test('eight decimals', () => {
  const options = { unit: 'KB', decimalPlaces: 8, fixedDecimals: true, thousandsSeparator: ',' };
  assert.equal(format(1500, options), '1.46484375KB');
});

test('fixed decimals that are nought', () => {
  const options = { unit: 'KB', decimalPlaces: 4, fixedDecimals: true };
  assert.equal(format(1024 * 1024, { ...options, thousandsSeparator: ',' }), '1,024.0000KB');
  assert.equal(format(1024, { ...options, thousandsSeparator: '.' }), '1.0000KB');
});
