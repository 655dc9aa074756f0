import 'reflect-metadata';
import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  buildMessage,
  IsArray,
  IsDate,
  isEmail,
  IsOptional,
  IsString,
  ValidateBy,
  ValidationOptions,
} from 'class-validator';
import { validatorFault } from './error-texts';
import { findUnseen, trimUnseen } from './unseen';

/** Reports whether PostgreSQL can store a text: it has no NUL and no half of a surrogate pair. */
export function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

/** Cuts a client's text to `max` UTF-16 units, and removes or replaces units that PostgreSQL cannot store. */
export function cutStorable(text: string, max: number): string {
  return text.replaceAll('\0', '').slice(0, max).toWellFormed();
}

export function IsStorableText(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isStorableText',
      validator: {
        validate: isStorableText,
        defaultMessage: buildMessage(
          (each) => `${each}must be a string of valid Unicode without NUL`,
          options,
        ),
      },
    },
    options,
  );
}

/** Limits a text to a number of Unicode code points, as `maxLength` of JSON Schema does. */
export function MaxCharacters(max: number, options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'maxCharacters',
      constraints: [max],
      validator: {
        validate: (value) => typeof value === 'string' && countCharacters(value) <= max,
        defaultMessage: buildMessage((each) => `${each}must be at most ${max} characters`, options),
      },
    },
    options,
  );
}

/** Accepts up to `max` ids: a list, or in a query a text of ids with commas between them. */
/** Requires a list of at most `max` items. */
export function IsItemList(max: number): PropertyDecorator {
  return applyDecorators(IsArray(), ArrayMaxSize(max, validatorFault('too_many_named', { max })));
}

export function IsIdList(max: number): PropertyDecorator {
  return applyDecorators(
    ArrayMaxSize(max, validatorFault('too_many_named', { max })),
    IsString({ each: true }),
    IsArray(),
    Transform(({ value }) => (typeof value === 'string' ? value.split(',') : value) as unknown),
  );
}

/** Range of time stamps that fit into an id, and into an ISO 8601 text with a year of four digits. */
const [EARLIEST, LATEST] = [new Date(0), new Date('9999-12-31T23:59:59.999Z')];

/** Accepts a time stamp from 1970 to 9999, as a `Date` or a text. */
export function IsMoment(): PropertyDecorator {
  return applyDecorators(
    Type(() => Date),
    IsDate({ message: 'must be an ISO 8601 date' }),
    ValidateBy({
      name: 'isMoment',
      validator: {
        // Both comparisons are false for a value that is no date, so that only `IsDate` refuses it.
        validate: (value) => !(Number(value) < Number(EARLIEST)) && !(Number(value) > Number(LATEST)),
        defaultMessage: () => 'must be between the years 1970 and 9999',
      },
    }),
  );
}

/** Text with date, time and zone (RFC 3339), which means the same time everywhere. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Accepts a time stamp as `IsMoment` does, but a text only if it has a time and a zone. */
export function IsDateTime(): PropertyDecorator {
  const refuseOthers = ({ obj, key, value }: TransformFnParams): unknown => {
    const given = (obj as Record<string, unknown>)[key];
    return given instanceof Date || (typeof given === 'string' && DATE_TIME.test(given)) ? value : given;
  };
  return applyDecorators(Transform(refuseOthers), IsMoment());
}

/** Value by which class-validator's rules of fields with `IsNullable` are recognised, in their `context`. */
export const NULLABLE = 'null has a meaning';

/**
 * Marks an optional field whose null has a meaning of its own, such as "clear the value". Use it instead of
 * `IsOptional`, under which null counts as left out. The field may be left out too.
 */
export function IsNullable(): PropertyDecorator {
  return IsOptional({ context: NULLABLE });
}

const OPAQUE = Symbol('opaque fields');

/**
 * Marks a field whose keys are data, such as a contact's attributes. No library walks through its value, so
 * the value may have keys such as `constructor`, which every object inherits.
 */
export function IsOpaque(): PropertyDecorator {
  return (prototype, field) =>
    Reflect.defineMetadata(OPAQUE, [...opaqueFieldsOf(prototype), field], prototype);
}

export function opaqueFieldsOf(prototype: object): readonly string[] {
  return (Reflect.getMetadata(OPAQUE, prototype) as string[] | undefined) ?? [];
}

/** Removes characters that cannot be seen from both ends of a text, or of each text of a list. */
export function TrimUnseen(): PropertyDecorator {
  const trim = (value: unknown) => (typeof value === 'string' ? trimUnseen(value) : value);
  return Transform(({ value }) => (Array.isArray(value) ? value.map(trim) : trim(value)));
}

/** Requires an e-mail address. Removes unseen characters from both ends, and refuses them inside. */
export function IsEmailAddress(): PropertyDecorator {
  const validate = (value: unknown) => isEmail(value) && findUnseen(value as string) === null;
  return applyDecorators(
    ValidateBy({ name: 'isEmail', validator: { validate } }, { message: 'must be an e-mail address' }),
    TrimUnseen(),
  );
}

/**
 * Reports whether an e-mail address has no letter that Unicode treats as a form of another letter. In lower
 * case such an address could become another person's: the sign for kelvin becomes `k`.
 */
export function isPlainEmail(email: unknown): boolean {
  return typeof email === 'string' && email.normalize('NFKC') === email;
}

export function IsPlainEmail(): PropertyDecorator {
  const options = validatorFault('email_not_plain');
  return ValidateBy({ name: 'isPlainEmail', validator: { validate: isPlainEmail } }, options);
}

export function NotBlank(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'notBlank',
      validator: {
        validate: (value) => typeof value === 'string' && trimUnseen(value) !== '',
        defaultMessage: buildMessage((each) => `${each}must not be blank`, options),
      },
    },
    options,
  );
}

export function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count++;
  return count;
}

/** Requires a text of at most `max` characters that is not blank and that PostgreSQL can store. */
export function IsText(max: number): PropertyDecorator {
  return applyDecorators(IsStorableText(), NotBlank(), MaxCharacters(max));
}
