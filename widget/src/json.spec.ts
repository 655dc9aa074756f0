import { toJson } from './json';

const VALUE = {
  text: 'a "b" \n',
  none: undefined,
  list: [1, [true, null], { id: '\u2028' }],
  0: {},
  empty: [],
};

it('writes JSON', () => {
  expect(toJson(VALUE)).toBe(JSON.stringify(VALUE));
});

it('writes arrays as they are in a page whose arrays have a toJSON', () => {
  const json = JSON.stringify(VALUE);
  Object.assign(Array.prototype, { toJSON: () => 'broken' });
  try {
    expect(toJson(VALUE)).toBe(json);
  } finally {
    delete (Array.prototype as { toJSON?: unknown }).toJSON;
  }
});
