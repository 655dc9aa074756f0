import 'reflect-metadata';
import { ArrayUnique, IsIn, IsInt, IsOptional, IsString, Matches, Max } from 'class-validator';
import { AppError } from './app-error';
import { validatorFault } from './error-texts';
import { validate } from './validate';
import { MaxCharacters, NotBlank } from './validators';

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

  describe('gives every fault a code, and the values of its text', () => {
    class Coded {
      @Max(5)
      @IsInt()
      count: unknown;

      @IsIn(['a', 'b'], { each: true })
      @ArrayUnique({ message: 'must not name a letter twice' })
      letters: unknown;

      @MaxCharacters(3)
      @NotBlank()
      @IsString()
      name: unknown;

      @IsOptional()
      @Matches(/^x$/, validatorFault('not_slug'))
      slug?: unknown;

      @IsOptional()
      @Matches(/^x$/)
      other?: unknown;
    }
    const good = { count: 1, letters: ['a'], name: 'abc' };

    it.each([
      [{ count: undefined }, 'required', undefined],
      [{ count: 'x' }, 'not_whole', undefined],
      [{ count: 6 }, 'too_large', { max: 5 }],
      [{ letters: ['c'] }, 'not_one_of', { choices: ['a', 'b'] }],
      [{ letters: ['a', 'a'] }, 'named_twice', undefined],
      [{ name: ' ' }, 'blank', undefined],
      [{ name: 'abcd' }, 'too_long', { max: 3 }],
      [{ slug: 'y' }, 'not_slug', undefined],
      [{ other: 'y' }, 'wrong_form', undefined],
      [{ more: 1 }, 'unknown_field', undefined],
    ])('%j: %s', (input, code, values) => {
      expect(() => validate(Coded, { ...good, ...input })).toThrow(
        expect.objectContaining({
          details: [
            { field: Object.keys(input)[0], message: expect.any(String), code, ...(values && { values }) },
          ],
        }),
      );
    });
  });
});
