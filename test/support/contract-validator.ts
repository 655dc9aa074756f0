import Ajv2020, { ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { ApiResponse } from './api-client';
import { DOCUMENT_PATHS, readDocuments, resolved } from './openapi-documents';

const DOCUMENT = 'openapi';
const API = '/api/v1/';
const DOCUMENTED = [API, '/channels/'];
/** Headers that every operation must document. Others (`date`, `connection`, …) belong to the protocol. */
const OWN_HEADERS = /^(x-(?!accel-)|retry-after$|idempotency-)/;
const ERROR_SCHEMA = ['components', 'schemas', 'Error'];

/** Statuses of answers that are given only after the call has been counted for the rate limit. */
const COUNTED = new Set([200, 201, 204, 402, 403, 409]);

interface Header {
  required?: boolean;
  schema: { type: string };
}

/**
 * Checks answers against the service's own OpenAPI documents. They let answers grow; here each object is
 * closed, so that an undescribed key is found.
 */
export class ContractValidator {
  private readonly ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: any) {
    this.ajv.addSchema(closed(document) as object, DOCUMENT);
  }

  static async create(baseUrl: string): Promise<ContractValidator> {
    return new ContractValidator(await readDocuments(baseUrl));
  }

  /**
   * Checks one answer.
   * @throws Error when the document does not describe this answer
   */
  check(method: string, path: string, response: ApiResponse): void {
    if (!DOCUMENTED.some((prefix) => path.startsWith(prefix)) || DOCUMENT_PATHS.includes(path)) return;
    const what = `${method} ${path} answered ${response.status}`;
    if (response.status >= 400) requireSameRequestId(response, what);
    const template = this.templateOf(path);
    const operation = template && this.document.paths[template][method.toLowerCase()];
    if (!operation) {
      if (response.status !== 404 && !isOfUnreadableBody(response))
        throw new Error(`${what}, but is no documented route`);
      return this.match(ERROR_SCHEMA, response.body, what);
    }
    const answer = operation.responses[response.status];
    const documented = resolved(answer, this.document);
    if (!documented) throw new Error(`${what}, which is not documented: ${JSON.stringify(response.body)}`);
    const location = answer.$ref
      ? (answer.$ref as string).replace('#/', '').split('/')
      : ['paths', template, method.toLowerCase(), 'responses', String(response.status)];
    const { content } = documented;
    if (content?.['application/json'])
      this.match([...location, 'content', 'application/json', 'schema'], response.body, what);
    else if (!content && response.body !== null)
      throw new Error(`${what} with a body that is not documented`);
    this.checkHeaders(documented.headers, response.headers, what);
    if (path.startsWith(API) && COUNTED.has(response.status) && !isOfRefusedAddress(response))
      requireRateLimitHeaders(response, what);
  }

  /**
   * Checks the body of an error on any path.
   * @throws Error when it does not have the documented form
   */
  checkError(what: string, response: ApiResponse): void {
    requireSameRequestId(response, what);
    this.match(ERROR_SCHEMA, response.body, what);
  }

  private templateOf(path: string): string | undefined {
    const segments = path.split('?', 1)[0]!.split('/');
    return Object.keys(this.document.paths).find((template) => {
      const parts = template.split('/');
      return (
        parts.length === segments.length &&
        parts.every((part, i) => part === segments[i] || (part.startsWith('{') && isDecodable(segments[i]!)))
      );
    });
  }

  private checkHeaders(
    documented: Record<string, unknown>,
    headers: Record<string, string>,
    what: string,
  ): void {
    const known = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const unknown = Object.keys(headers).filter((name) => OWN_HEADERS.test(name) && !known.has(name));
    if (unknown.length > 0) throw new Error(`${what} with undocumented headers: ${unknown.join(', ')}`);
    for (const name of Object.keys(documented)) {
      const { required, schema } = this.document.components.headers[name] as Header;
      const text = headers[name.toLowerCase()];
      if (text === undefined && required) throw new Error(`${what} without ${name}`);
      if (text === undefined) continue;
      const value = schema.type === 'integer' ? Number(text) : text;
      this.match(['components', 'headers', name, 'schema'], value, `${what}, ${name}`);
    }
  }

  private match(location: string[], value: unknown, what: string): void {
    const pointer = location.map((part) => part.replace(/~/g, '~0').replace(/\//g, '~1')).join('/');
    const $ref = `${DOCUMENT}#/${encodeURI(pointer)}`;
    const validate = this.compiled.get($ref) ?? this.ajv.compile({ $ref });
    this.compiled.set($ref, validate);
    if (validate(value)) return;
    throw new Error(`${what}: ${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }
}

/**
 * Reports whether a 403 is for the client's address. Unlike a 403 for a missing scope, it does not count as a
 * call.
 */
function isOfRefusedAddress({ body }: ApiResponse): boolean {
  return body?.error?.message === 'The API key may not be used from this address.';
}

/**
 * Reports whether an error is about a body that could not be read: the body is read before its route is
 * searched.
 */
function isOfUnreadableBody({ status, body }: ApiResponse): boolean {
  return status === 400 && body.error?.code === 'INVALID_BODY';
}

function requireRateLimitHeaders({ headers }: ApiResponse, what: string): void {
  for (const name of ['limit', 'remaining', 'reset'])
    if (!headers[`x-ratelimit-${name}`]) throw new Error(`${what} without X-RateLimit-${name}`);
}

function requireSameRequestId({ headers, body }: ApiResponse, what: string): void {
  if (body?.error?.requestId === headers['x-request-id']) return;
  throw new Error(`${what} with two different request ids`);
}

/** Reports whether the router can decode a segment; no other segment can be a parameter. */
function isDecodable(segment: string): boolean {
  try {
    return decodeURIComponent(segment) !== '';
  } catch {
    return false;
  }
}

/** Copies a schema so that an object that lists its properties may have no others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const isObjectSchema = [copy.type].flat().includes('object') && typeof copy.properties === 'object';
  return isObjectSchema ? { additionalProperties: false, ...copy } : copy;
}
