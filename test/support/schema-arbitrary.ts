import fc, { Arbitrary } from 'fast-check';
import { FALSE_CLASS, RESERVED_KEYS } from './reserved-keys';

/** Part of JSON Schema, as in OpenAPI 3.1, that the documents use. */
export interface JsonSchema {
  $ref?: string;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  minProperties?: number;
}

const MAX_INTEGER = 2 ** 31;

/** Generates texts that are difficult for parsers and databases. */
export const ODD_TEXT: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\u202e',
    '%',
    '%00',
    "'; --",
    '${7*7}',
    '__proto__',
    'null',
    'NaN',
    '-0',
  ),
  fc.constantFrom('9'.repeat(400), 'x'.repeat(5_000), '😀'.repeat(2_100), '\u0301'.repeat(300)),
);

/** Generates objects with a key that JavaScript gives a meaning. */
const RESERVED = fc
  .tuple(fc.constantFrom(...RESERVED_KEYS), fc.constantFrom<unknown>(1, 'x', FALSE_CLASS))
  .map(([key, value]) => ({ [key]: value }));

/** Generates JSON of any shape. */
export const ANY_JSON: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  RESERVED,
  fc.oneof(ODD_TEXT, fc.double(), fc.constantFrom(null, true, -1, 2 ** 53, 1e308, [], {}, [[]], [null])),
);

/**
 * Generates values that a schema describes.
 * @param known better values of fields by name, such as ids of things that exist
 * @param onlyKnown whether these fields have no other values
 */
export class SchemaArbitrary {
  constructor(
    private readonly document: object,
    private readonly known: Record<string, Arbitrary<unknown>>,
    private readonly onlyKnown = false,
  ) {}

  valid(schema: JsonSchema): Arbitrary<unknown> {
    if (schema.$ref) return this.valid(this.resolve(schema.$ref));
    if (schema.allOf)
      return this.valid(Object.assign({}, ...schema.allOf, { ...schema, allOf: undefined }) as JsonSchema);
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives) return fc.oneof(...alternatives.map((one) => this.valid(one)));
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? 'object'].flat();
    return fc.oneof(...types.map((type) => this.makeValue(type, schema)));
  }

  /** Generates a valid value in which one part, at any depth, is replaced, missing, doubled or added. */
  nearlyValid(schema: JsonSchema): Arbitrary<unknown> {
    return this.valid(schema).chain(mutations);
  }

  private makeValue(type: string, schema: JsonSchema): Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -MAX_INTEGER, max: schema.maximum ?? MAX_INTEGER });
      case 'number':
        return fc.double({ noNaN: true, min: schema.minimum, max: schema.maximum });
      case 'array':
        return fc.array(this.valid(schema.items ?? {}), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(schema.maxItems ?? 5, 5),
        });
      case 'object':
        return this.object(schema);
      default:
        return text(schema);
    }
  }

  private object({ properties = {}, required = [], minProperties = 0 }: JsonSchema): Arbitrary<object> {
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, this.field(name, field)]),
    );
    return fc
      .record(fields, { requiredKeys: required })
      .filter((value) => Object.keys(value).length >= Math.min(minProperties, Object.keys(fields).length));
  }

  private field(name: string, schema: JsonSchema): Arbitrary<unknown> {
    const known = this.known[name];
    if (!known) return this.valid(schema);
    return this.onlyKnown ? known : fc.oneof(known, this.valid(schema));
  }

  private resolve(reference: string): JsonSchema {
    const parts = reference.replace(/^#\//, '').split('/');
    return parts.reduce((node: any, part) => node[part], this.document) as JsonSchema;
  }
}

function text({ format, pattern, minLength = 0, maxLength = 60 }: JsonSchema): Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'email') return fc.emailAddress();
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern) return fc.stringMatching(new RegExp(pattern, 'u'));
  const length = { minLength, maxLength: Math.min(maxLength, minLength + 60) };
  return fc.oneof(
    fc.string({ unit: 'grapheme', ...length }),
    fc.string({ unit: 'grapheme-ascii', ...length }),
  );
}

/** Generates copies of a value with a change in one place. */
export function mutations(value: unknown): Arbitrary<unknown> {
  if (Array.isArray(value) && value.length > 0)
    return fc.oneof(
      { weight: 1, arbitrary: ANY_JSON },
      { weight: 1, arbitrary: fc.constantFrom([], [...value, ...value] as unknown[], [[value]]) },
      {
        weight: 4,
        arbitrary: fc
          .nat(value.length - 1)
          .chain((at) =>
            mutations(value[at]).map((other) => value.map((item: unknown, n) => (n === at ? other : item))),
          ),
      },
    );
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return ANY_JSON;
  const keys = Object.keys(value);
  const fields = value as Record<string, unknown>;
  const without = (key: string) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
  return fc.oneof(
    { weight: 1, arbitrary: ANY_JSON },
    { weight: 1, arbitrary: fc.constantFrom(...keys).map(without) },
    {
      weight: 1,
      arbitrary: fc.tuple(ODD_TEXT, ANY_JSON).map(([key, other]) => ({ ...fields, [key]: other })),
    },
    { weight: 1, arbitrary: RESERVED.map((reserved) => ({ ...fields, ...reserved })) },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom(...keys)
        .chain((key) => mutations(fields[key]).map((other) => ({ ...fields, [key]: other }))),
    },
  );
}
