import { ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, ValidationError } from 'class-validator';
import { AppError, ErrorDetail } from './app-error';

const UNKNOWN_FIELD = 'is not a known field';
/**
 * Options of class-validator. They report one fault a field, because further faults mostly follow from the
 * first.
 */
const STRICT = { whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true };

/** Limit of an input's levels of nesting: deeper than any valid input, and safe for the stack. */
const MAX_DEPTH = 20;
/**
 * Limit of an input's fields: more than any valid input has. class-validator would take seconds for thousands
 * of unknown fields.
 */
const MAX_FIELDS = 500;
/**
 * Limit of the faults that one answer lists. It keeps the answer from being many times larger than its
 * request.
 */
const MAX_DETAILS = 20;

/** Instances that `validate` has returned: the HTTP layer validates an input, and the service once more. */
const valid = new WeakSet<object>();

/**
 * Validates input against its DTO: refuses unknown fields, clamps nothing, and reports all faulty fields at
 * once.
 * @returns the DTO's instance, which nobody may change: validated again, it is not looked at
 * @throws AppError with `code` and a detail for each faulty field
 */
export function validate<T extends object>(
  dto: ClassConstructor<T>,
  input: unknown,
  code: 'INVALID_BODY' | 'INVALID_QUERY' = 'INVALID_BODY',
): T {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new AppError(code, 'A JSON object sent as application/json is required.');
  }
  if (input instanceof dto && valid.has(input)) return input;
  if (isDeeperThan(MAX_DEPTH, input))
    throw new AppError(code, `Nothing may be nested more than ${MAX_DEPTH} deep.`);
  if (fieldsOf(input) > MAX_FIELDS) throw new AppError(code, `More than ${MAX_FIELDS} fields are too many.`);
  const instance = plainToInstance(dto, input, { exposeDefaultValues: true });
  const details = [...inheritedKeysOf(input), ...detailsOf(validateSync(instance, STRICT))];
  if (details.length === 0) {
    valid.add(instance);
    return instance;
  }
  const named = details.slice(0, MAX_DETAILS);
  const message = named.map(({ field, message }) => `${field} ${message}`).join('; ');
  const more = details.length > named.length ? `; and ${details.length - named.length} more` : '';
  throw new AppError(code, `${message}${more}.`, named);
}

/**
 * Reports whether a value is nested deeper than `depth` levels. It goes level by level, because a deep body
 * would exhaust the stack of a recursion.
 */
export function isDeeperThan(depth: number, value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let n = 0; n < depth && level.length > 0; n++) {
    level = level.flatMap((nested): unknown[] => Object.values(nested)).filter(isNested);
  }
  return level.length > 0;
}

/** Counts the fields of a value on all levels. */
function fieldsOf(value: object): number {
  const values: unknown[] = Object.values(value);
  return values.filter(isNested).reduce((sum, nested) => sum + fieldsOf(nested), values.length);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/**
 * Lists the keys of an input that every object inherits, such as `__proto__`. class-transformer would drop
 * them silently.
 */
function inheritedKeysOf(input: object): ErrorDetail[] {
  return Object.keys(input)
    .filter((key) => key in Object.prototype)
    .map((field) => ({ field, message: UNKNOWN_FIELD }));
}

function detailsOf(errors: ValidationError[], parent = ''): ErrorDetail[] {
  return errors.flatMap(({ property, value, constraints = {}, children = [] }) => {
    const field = parent + property;
    const own = Object.entries(constraints).map(([rule, message]) => ({
      field,
      message: faultOf(rule, value, message.replace(`${property} `, '')),
    }));
    return [...own, ...detailsOf(children, `${field}.`)];
  });
}

function faultOf(rule: string, value: unknown, message: string): string {
  if (rule === 'whitelistValidation') return UNKNOWN_FIELD;
  return value === undefined ? 'is required' : message;
}
