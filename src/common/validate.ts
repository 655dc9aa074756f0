import { ClassConstructor, plainToInstance } from 'class-transformer';
import { getMetadataStorage, IS_OPTIONAL, validateSync, ValidationError } from 'class-validator';
import { AppError, ErrorDetail } from './app-error';
import { FAULTS } from './fault-texts';
import { CodedFault, ErrorValue, FaultCode, faultSentence, makeFault } from './error-texts';
import { rememberRules } from './known-rules';
import { NULLABLE, opaqueFieldsOf } from './validators';

rememberRules();

/** Options of class-validator. It reports a field's first fault, because most others follow from it. */
const STRICT = { whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true };

/** Largest number of nested levels of an input: more than any valid input has, and safe for the stack. */
const MAX_DEPTH = 20;
/** Largest number of fields of an input, because class-validator takes seconds for thousands of them. */
const MAX_FIELDS = 500;
/** Largest number of faults in one answer, so that the answer is not many times larger than its request. */
const MAX_DETAILS = 20;

/**
 * Code of the fault for each broken rule of class-validator, and the names of the fault's values, which are
 * the rule's arguments. A rule with the options of `validatorFault` reports that fault instead.
 */
const FAULT_OF_RULE: Record<string, [code: FaultCode, ...values: string[]]> = {
  arrayMaxSize: ['too_many_named', 'max'],
  arrayNotEmpty: ['none_named'],
  arrayUnique: ['named_twice'],
  isArray: ['not_list'],
  isBoolean: ['not_boolean'],
  isDate: ['not_date'],
  isEmail: ['not_email'],
  isIn: ['not_one_of', 'choices'],
  isInt: ['not_whole'],
  isMoment: ['date_out_of_range'],
  isNetwork: ['not_network'],
  isObject: ['not_object'],
  isStorableText: ['not_storable'],
  isString: ['not_text'],
  isSubscribable: ['not_event'],
  isUuid: ['not_cursor'],
  max: ['too_large', 'max'],
  maxCharacters: ['too_long', 'max'],
  maxLength: ['too_long', 'max'],
  min: ['too_small', 'min'],
  minDate: ['not_future'],
  nestedValidation: ['not_object'],
  notBlank: ['blank'],
};

/** Instances that `validate` has returned. If a service validates an instance again, it is not checked. */
const valid = new WeakSet<object>();

/**
 * Validates an input by the decorators of its class. It refuses unknown fields. It refuses a value out of
 * bounds, and does not change it to fit. It reports the faults of all fields at once.
 * @returns an instance of the class. It must not be changed, because a second validation does not check it.
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
  const opaque = opaqueFieldsOf(dto.prototype as object);
  requireNone(code, reservedKeysOf(input, opaque));
  const instance = toInstance(dto, input, opaque);
  leaveOutNulls(instance);
  requireNone(code, detailsOf(validateSync(instance, STRICT)));
  valid.add(instance);
  return instance;
}

function requireNone(code: 'INVALID_BODY' | 'INVALID_QUERY', details: ErrorDetail[]): void {
  if (details.length === 0) return;
  const named = details.slice(0, MAX_DETAILS);
  const message = named.map((detail) => faultSentence(detail.field, detail)).join('; ');
  const more = details.length > named.length ? `; and ${details.length - named.length} more` : '';
  throw new AppError(code, `${message}${more}.`, named);
}

/**
 * Reports whether a value is nested deeper than `depth` levels. It uses no recursion, because a deeply nested
 * body would exhaust the stack.
 */
export function isDeeperThan(depth: number, value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let n = 0; n < depth && level.length > 0; n++) {
    level = level.flatMap((nested): unknown[] => Object.values(nested)).filter(isNested);
  }
  return level.length > 0;
}

function fieldsOf(value: object): number {
  const values: unknown[] = Object.values(value);
  return values.filter(isNested).reduce((sum, nested) => sum + fieldsOf(nested), values.length);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/**
 * Lists the keys, on all levels, that are names of members of every object, such as `constructor`, or are
 * `prototype`. They are refused, because a library could mistake them for these members: class-transformer
 * would call the value of `constructor` as a class. Keys inside opaque fields are not listed.
 */
function reservedKeysOf(value: object, opaque: readonly string[], path = ''): ErrorDetail[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const field = path + key;
    if (key in Object.prototype || key === 'prototype') return [{ field, ...makeFault('unknown_field') }];
    return isNested(inner) && !opaque.includes(key) ? reservedKeysOf(inner, [], `${field}.`) : [];
  });
}

/** Makes an instance of a class from an input. Opaque fields have the input's values unchanged. */
function toInstance<T extends object>(dto: ClassConstructor<T>, input: object, opaque: readonly string[]): T {
  if (opaque.length === 0) return plainToInstance(dto, input, { exposeDefaultValues: true });
  const isOpaque = ([field]: [string, unknown]) => opaque.includes(field);
  const fields = Object.entries(input);
  const others = Object.fromEntries(fields.filter((field) => !isOpaque(field)));
  const instance = plainToInstance(dto, others, { exposeDefaultValues: true });
  return Object.assign(instance, Object.fromEntries(fields.filter(isOpaque)));
}

/**
 * Sets optional fields that are null to their default, except fields with `IsNullable`. Changes only
 * instances of classes, not plain objects.
 */
function leaveOutNulls(instance: object): void {
  const prototype = Object.getPrototypeOf(instance) as object | null;
  if (prototype === null || prototype === Object.prototype) return;
  const dto = prototype.constructor as ClassConstructor<Record<string, unknown>>;
  for (const [field, value] of Object.entries(instance)) {
    if (value === null && isAbsentIfNull(dto, field)) Object.assign(instance, { [field]: new dto()[field] });
    else if (isNested(value)) leaveOutNulls(value);
  }
}

function isAbsentIfNull(dto: ClassConstructor<object>, field: string): boolean {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .filter(({ propertyName, name }) => propertyName === field && name === IS_OPTIONAL);
  return rules.length > 0 && rules.every(({ context }) => context !== NULLABLE);
}

function detailsOf(errors: ValidationError[], parent = ''): ErrorDetail[] {
  return errors.flatMap((error) => {
    const { property, constraints = {}, children = [] } = error;
    const field = parent + property;
    const own = Object.keys(constraints).map((rule) => ({ field, ...faultOf(rule, error) }));
    return [...own, ...detailsOf(children, `${field}.`)];
  });
}

function faultOf(rule: string, error: ValidationError): Omit<ErrorDetail, 'field'> {
  const { property, constraints, contexts } = error;
  if (rule === 'whitelistValidation') return makeFault('unknown_field');
  if (error.value === undefined) return makeFault('required');
  const message = constraints![rule]!.replace(`${property} `, '');
  if (message === FAULTS.empty) return makeFault('empty');
  return { message, ...((contexts?.[rule] as CodedFault | undefined) ?? faultOfRule(rule, error)) };
}

function faultOfRule(rule: string, { target, property }: ValidationError): CodedFault {
  const [code, ...names] = FAULT_OF_RULE[rule] ?? ['wrong_form' as const];
  if (names.length === 0) return { code };
  const { constraints } = getMetadataStorage()
    .getTargetValidationMetadatas(target!.constructor, '', false, false)
    .find(({ propertyName, type, name }) => propertyName === property && (name ?? type) === rule)!;
  const values = (constraints ?? []) as ErrorValue[];
  return { code, values: Object.fromEntries(names.map((name, n) => [name, values[n]!])) };
}
