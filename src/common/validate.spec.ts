import 'reflect-metadata';
import { IsOptional } from 'class-validator';
import { AppError } from './app-error';
import { validate } from './validate';

class Input {
  @IsOptional()
  value?: unknown;
}

function refusalOf(input: unknown): string | undefined {
  try {
    validate(Input, input);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

const unknownFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

describe('validation of input', () => {
  it('returns what it has validated before, and validates an instance that somebody else made', () => {
    const instance = validate(Input, { value: 1 });
    expect(validate(Input, instance)).toBe(instance);
    expect(refusalOf(Object.assign(new Input(), unknownFields(1)))).toMatch(/^k0 is not a known field/);
  });

  it('names the first of many unknown fields', () => {
    expect(refusalOf(unknownFields(25))).toMatch(/^k0 is not a known field; .*k19 .*; and 5 more\.$/);
  });

  it.each([
    ['fields', unknownFields(501)],
    ['elements', { value: Array(501).fill(0) }],
    ['fields of fields', { value: unknownFields(250), other: unknownFields(250) }],
  ])('refuses too many %s', (_, input) => {
    expect(refusalOf(input)).toBe('More than 500 fields are too many.');
  });

  it('takes many fields where they are allowed', () => {
    expect(refusalOf({ value: unknownFields(499) })).toBeUndefined();
  });

  it('takes no time to speak of for as many fields as a body can hold', () => {
    const body = unknownFields(25_000);
    const startedAt = performance.now();
    expect(refusalOf(body)).toBeDefined();
    expect(performance.now() - startedAt).toBeLessThan(500); // 4 s by class-validator alone
  });
});
