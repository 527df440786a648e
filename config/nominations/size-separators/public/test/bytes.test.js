const assert = require('node:assert/strict');
const test = require('node:test');
const bytes = require('..');

test('a number and a unit', () => {
  assert.equal(bytes(1024), '1KB');
  assert.equal(bytes('1KB'), 1024);
});

test('thousands', () => {
  assert.equal(bytes(1000000, { unit: 'B', thousandsSeparator: ' ' }), '1 000 000B');
});

test('thousands and decimals', () => {
  assert.equal(bytes(2345.6789, { unit: 'B', decimalPlaces: 4, thousandsSeparator: ',' }), '2,345.6789B');
});
