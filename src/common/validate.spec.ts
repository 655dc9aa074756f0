import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ClassConstructor, Type } from 'class-transformer';
import {
  ArrayUnique,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  ValidateNested,
} from 'class-validator';
import { countFalseClasses, FALSE_CLASS, RESERVED_KEYS } from '../../test/support/reserved-keys';
import { AppError } from './app-error';
import { validatorFault } from './error-texts';
import { validate } from './validate';
import { IsDateTime, IsNullable, IsOpaque, MaxCharacters, NotBlank } from './validators';

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

  describe('refuses keys that JavaScript gives a meaning', () => {
    class Moment {
      @IsOptional()
      @IsDateTime()
      value?: Date;
    }

    it.each(RESERVED_KEYS)('such as %s, at every depth', (key) => {
      const hostile: object = JSON.parse(`{"${key}":${JSON.stringify(FALSE_CLASS)}}`) as object;
      expect(refusalOf(hostile)).toBe(`${key} is not a known field.`);
      expect(refusalOf({ value: hostile })).toBe(`value.${key} is not a known field.`);
      expect(refusalOf({ value: [{ a: hostile }] })).toBe(`value.0.a.${key} is not a known field.`);
      expect(refusalOf({ unknown: hostile })).toBe(`unknown.${key} is not a known field.`);
      // Such a value cannot be turned into a number, of which a date is made.
      expect(() => validate(Moment, { value: { [key]: 1 } })).toThrow(AppError);
      expect(countFalseClasses()).toBe(0);
    });

    it('in the input of every DTO, and keeps none of them', () => {
      const dtos = listDtos();
      expect(dtos.length).toBeGreaterThan(60);
      for (const dto of dtos) {
        for (const key of ['constructor', 'anything']) {
          expect(() => validate(dto, { [key]: { constructor: FALSE_CLASS } })).toThrow(AppError);
        }
      }
      expect(countFalseClasses()).toBe(0);
    });
  });

  it('takes every key in an opaque field, with the value as it is', () => {
    class Opaque {
      @IsOpaque()
      @IsObject()
      value: object;
    }
    const value = Object.fromEntries([...RESERVED_KEYS, 'city'].map((key) => [key, FALSE_CLASS]));
    expect(validate(Opaque, { value }).value).toBe(value);
    expect(() => validate(Opaque, {})).toThrow('value is required.');
    expect(() => validate(Opaque, { value, constructor: 1 })).toThrow(AppError);
    expect(countFalseClasses()).toBe(0);
  });

  describe('takes null (public report 35)', () => {
    class Inner {
      @IsOptional()
      @IsString()
      note?: string;
    }

    class Fields {
      @IsString()
      name: string;

      @IsOptional()
      @IsString()
      sender?: string;

      @IsOptional()
      @IsInt()
      limit: number = 50;

      @IsNullable()
      @IsString()
      agent?: string | null;

      @IsOptional()
      @ValidateNested()
      @Type(() => Inner)
      inner?: Inner;
    }

    it('as left out where it has no meaning, nested objects included', () => {
      const nulls = { name: 'Ada', sender: null, limit: null, inner: { note: null } };
      expect(validate(Fields, nulls)).toEqual({ name: 'Ada', limit: 50, inner: {} });
      expect(validate(Fields, { name: 'Ada', inner: null })).toEqual({ name: 'Ada', limit: 50 });
    });

    it('as null where it has one', () => {
      expect(validate(Fields, { name: 'Ada', agent: null }).agent).toBeNull();
    });

    it('for no field that is required', () => {
      expect(() => validate(Fields, { name: null })).toThrow('name must be a string.');
    });
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

/** Returns the classes of all inputs of the service and the dashboard. */
function listDtos(): ClassConstructor<object>[] {
  const root = resolve(__dirname, '../..');
  const files = ['src', 'dashboard/server/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(root, folder, file),
    ),
  );
  return files
    .filter((file) => file.endsWith('.dto.ts'))
    .flatMap((file) => Object.values(jest.requireActual<Record<string, unknown>>(file)))
    .filter(
      (value): value is ClassConstructor<object> =>
        typeof value === 'function' && /^class /.test(String(value)),
    );
}
