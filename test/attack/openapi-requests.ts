import fc, { Arbitrary } from 'fast-check';
import { resolved } from '../support/openapi-documents';
import { ANY_JSON, JsonSchema, mutations, ODD_TEXT, SchemaArbitrary } from '../support/schema-arbitrary';

/** Number of characters at which a text in a request's head is cut: more than any parameter may have. */
const MAX_IN_HEAD = 210;

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: JsonSchema;
}

/** One operation of an OpenAPI document. */
export interface RequestOperation {
  method: string;
  template: string;
  parameters: Parameter[];
  body: JsonSchema | null;
}

export interface GeneratedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Id that each known visitor has given to a message. */
export const CLIENT_MESSAGE_ID = 'first';

/** Parts of requests that can succeed: values, callers, bodies and signatures. */
export interface Known {
  /** Returns existing values for the path parameters of an operation. */
  pathValues(operation: RequestOperation): string[];
  /** Generators of values, by the name of a field. */
  fields: Record<string, Arbitrary<unknown>>;
  /** Returns the headers of callers that may call an operation, and of others. */
  callers(operation: RequestOperation): {
    authorized: Record<string, string>[];
    others: Record<string, string>[];
  };
  /**
   * Returns a generator of bodies that the document does not describe, such as a provider's; null if it
   * describes them.
   */
  samples(operation: RequestOperation): Arbitrary<unknown> | null;
  /** Returns the headers that depend on the body, such as a signature. */
  sign(operation: RequestOperation, body: string): Record<string, string>;
}

export function operationsOf(document: any): RequestOperation[] {
  return Object.entries(document.paths as Record<string, Record<string, any>>).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      parameters: (operation.parameters ?? []).map((one: unknown) => resolved(one, document) as Parameter),
      body: operation.requestBody?.content['application/json']?.schema ?? null,
    })),
  );
}

/** Generates valid, nearly valid and invalid requests of an operation. */
export function requestsOf(
  operation: RequestOperation,
  document: object,
  known: Known,
): Arbitrary<GeneratedRequest> {
  return fc.oneof(
    { weight: 1, arbitrary: usualRequestsOf(operation, document, known) },
    { weight: 3, arbitrary: oddRequestsOf(operation, document, known) },
  );
}

/** Generates requests of an operation, most of which succeed. */
export function usualRequestsOf(
  operation: RequestOperation,
  document: object,
  known: Known,
): Arbitrary<GeneratedRequest> {
  const schemas = new SchemaArbitrary(document, known.fields, true);
  const json = operation.body && (known.samples(operation) ?? schemas.valid(operation.body));
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) =>
      (known.fields[name] ?? schemas.valid(schema)).map((value) => `${name}=${encoded(String(value))}`),
    );
  return fc
    .record({
      value: fc.constantFrom(...known.pathValues(operation)),
      query: fc.tuple(...query).map((pairs) => (pairs.length > 0 ? `?${pairs.join('&')}` : '')),
      caller: fc.constantFrom(...known.callers(operation).authorized),
      body: json ? json.map(serialized) : fc.constant(undefined),
    })
    .map(({ value, query, caller, body }) => ({
      method: operation.method,
      path: pathWith(operation, value) + query,
      headers: {
        ...caller,
        ...(body !== undefined && { 'content-type': 'application/json', ...known.sign(operation, body) }),
      },
      body,
    }));
}

function oddRequestsOf(
  operation: RequestOperation,
  document: object,
  known: Known,
): Arbitrary<GeneratedRequest> {
  const schemas = new SchemaArbitrary(document, known.fields);
  const { authorized, others } = known.callers(operation);
  return fc
    .record({
      path: pathOf(operation, known),
      query: queryOf(operation, schemas, known),
      caller: mostly(fc.constantFrom(...authorized), fc.constantFrom(...authorized, ...others)),
      headers: headersOf(operation, schemas),
      body: bodyOf(operation, schemas, known),
      type: mostly(
        fc.constant('application/json'),
        fc.constantFrom(
          'application/json; charset=latin1',
          'application/json; charset="UTF8"',
          'text/plain',
          'multipart/form-data',
          'x',
          '',
        ),
      ),
      isSigned: mostly(fc.constant(true), fc.boolean()),
    })
    .map(({ path, query, caller, headers, body, type, isSigned }) => ({
      method: operation.method,
      path: path + query,
      headers: {
        ...headers,
        ...caller,
        ...(body !== undefined && { 'content-type': type, ...(isSigned && known.sign(operation, body)) }),
      },
      body,
    }));
}

/** Generates from the first source four times out of five, else from the second. */
function mostly<T>(usual: Arbitrary<T>, other: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function pathOf(operation: RequestOperation, known: Known): Arbitrary<string> {
  const values = mostly(
    fc.constantFrom(...known.pathValues(operation), 'none'),
    fc.oneof(
      fc.uuid(),
      // Clients resolve `.` and `..` in a path themselves.
      ODD_TEXT.map(encoded).filter((text) => !['', '.', '..'].includes(text)),
      fc.constantFrom('%', '%zz', '%00', '%ff', '..;', '%2F', '{id}', "'"),
    ),
  );
  return values.map((value) => pathWith(operation, value));
}

function pathWith({ template }: RequestOperation, value: string): string {
  return template.replace('{clientMessageId}', CLIENT_MESSAGE_ID).replace(/\{\w+\}/, () => value);
}

function queryOf(operation: RequestOperation, schemas: SchemaArbitrary, known: Known): Arbitrary<string> {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const pairs = parameters.map(({ name, schema, required }) => {
    const value = known.fields[name]
      ? mostly(known.fields[name], schemas.valid(schema))
      : schemas.valid(schema);
    const pair = mostly(value, ODD_TEXT).map((chosen) => `${name}=${encoded(String(chosen))}`);
    return fc.option(pair, { nil: null, freq: required ? 20 : 2 });
  });
  const odd = fc.oneof(
    fc.tuple(ODD_TEXT, ODD_TEXT).map(([name, value]) => `${encoded(name)}=${encoded(value)}`),
    fc.constantFrom(
      'limit=1&limit=2',
      'limit[]=1',
      'q[a]=1',
      '%',
      '&&&',
      'cursor',
      '__proto__[a]=1',
      'constructor=1',
      'constructor[prototype][constructor][a]=1',
      '_=1763800000',
      'a='.repeat(1_200),
    ),
  );
  return fc
    .tuple(fc.tuple(...pairs), mostly(fc.constant(null), odd))
    .map(([given, extra]) => [...given, extra].filter((pair) => pair !== null).join('&'))
    .map((query) => (query ? `?${query}` : ''));
}

function headersOf(operation: RequestOperation, schemas: SchemaArbitrary): Arbitrary<Record<string, string>> {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'header');
  const pairs = parameters.map(({ name, schema }) =>
    fc
      .option(
        mostly(schemas.valid(schema), ODD_TEXT).map((value) => sendable(String(value))),
        { nil: null },
      )
      .map((value) => (value === null ? {} : { [name]: value })),
  );
  return fc.tuple(...pairs).map((headers) => Object.assign({}, ...headers) as Record<string, string>);
}

function bodyOf(
  operation: RequestOperation,
  schemas: SchemaArbitrary,
  known: Known,
): Arbitrary<string | undefined> {
  if (!operation.body) return mostly(fc.constant(undefined), fc.constantFrom('{}', 'x', '[]', ' '));
  const samples = known.samples(operation);
  const changed = samples && fc.oneof(samples.chain(mutations), samples.chain(mutations).chain(mutations));
  const broken = fc.oneof(
    fc.constantFrom('', ' ', '{', '[]', 'null', '"x"', '{"a":1', '{"body":"x"}}', '\ufeff{}', '{"a":NaN}'),
    ODD_TEXT,
  );
  return fc.oneof(
    { weight: 3, arbitrary: (samples ?? schemas.valid(operation.body)).map(serialized) },
    { weight: 4, arbitrary: (changed ?? schemas.nearlyValid(operation.body)).map(serialized) },
    { weight: 1, arbitrary: ANY_JSON.map(serialized) },
    { weight: 1, arbitrary: broken },
  );
}

function serialized(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/**
 * Encodes a text for a URL. A lone surrogate has no encoding, and a long text is cut so that the head stays
 * within what HTTP servers take.
 */
function encoded(text: string): string {
  return encodeURIComponent(text.slice(0, MAX_IN_HEAD).toWellFormed());
}

/** Returns the characters of a text that clients can send in headers. */
function sendable(text: string): string {
  return text
    .slice(0, 2 * MAX_IN_HEAD)
    .replace(/[^\x20-\x7e\xa0-\xff]/g, '?')
    .trim();
}
