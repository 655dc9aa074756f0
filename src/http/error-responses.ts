import type { ApiResponseOptions } from '@nestjs/swagger';
import { API_ERROR_STATUS, ApiErrorCode, ErrorDetail, RETRYABLE } from '../common/app-error';
import { REASONS } from '../common/reason-texts';
import { makeFault } from '../common/error-texts';

export interface ErrorDocumentation {
  when: string;
  message: string;
  details?: ErrorDetail[];
}

const DOCUMENTATION: Record<ApiErrorCode, ErrorDocumentation> = {
  INVALID_BODY: {
    when: 'The body is not a JSON object, or has fields that are missing, unknown or wrong.',
    message: 'body must not be blank.',
    details: [{ field: 'body', ...makeFault('blank') }],
  },
  INVALID_QUERY: {
    when: 'A query parameter is unknown, out of bounds, malformed or given twice. Nothing is clamped or ignored.',
    message: 'limit must be a whole number from 1 to 200.',
    details: [{ field: 'limit', ...makeFault('not_limit', { max: 200 }) }],
  },
  UNAUTHENTICATED: {
    when: 'No API key, or one that is malformed, unknown, expired or revoked, or two different ones.',
    message: 'The API key is malformed, unknown, expired or revoked.',
  },
  TRIAL_EXPIRED: {
    when: 'The trial is over and the workspace was not upgraded: writes are refused, reads go on.',
    message: 'The trial has ended: the API is read-only until the workspace is upgraded.',
  },
  FORBIDDEN: {
    when: 'The key lacks the scope that the route needs, which the message names, or it may not be used from this address.',
    message: 'The API key lacks the scope conversations:read.',
  },
  WORKSPACE_SUSPENDED: {
    when: 'The workspace is suspended: its keys are refused, and nothing is sent, until that is lifted.',
    message: 'The workspace is suspended.',
  },
  NOT_FOUND: {
    when: "No such thing in the key's workspace. Another workspace's answers exactly the same.",
    message: 'Conversation not found.',
  },
  REQUEST_TIMEOUT: {
    when: 'The request did not arrive in time: its head within 10 seconds, its body within 30.',
    message: 'The request took too long to arrive.',
  },
  CONFLICT: {
    when: 'What the request changes was changed since it was read, or erased: read it again.',
    message: REASONS.contact_edited,
  },
  IDEMPOTENCY_CONFLICT: {
    when: 'The Idempotency-Key was used within 24 hours for a request with another path or body.',
    message: 'This Idempotency-Key was used for another request.',
  },
  PAYLOAD_TOO_LARGE: {
    when: 'The body is larger than 256 KiB.',
    message: 'The body is larger than 256 KiB.',
  },
  RANGE_NOT_SATISFIABLE: {
    when: 'No byte of the file is in the range that the `Range` header names.',
    message: 'The file has 48211 bytes.',
  },
  RATE_LIMITED: {
    when:
      'Too many requests on this path within a minute: a call after `Retry-After` seconds passes. Or too many of the ' +
      'workspace at once, whatever `X-RateLimit-Remaining` says: after `Retry-After` seconds a place in its line is free.',
    message: 'More than 240 requests a minute on this path. Retry in 17 s.',
  },
  INTERNAL: {
    when: 'A fault of the service.',
    message: 'Something went wrong on our side. Quote the requestId to support.',
  },
  UNAVAILABLE: {
    when:
      'The service cannot answer now: it is busy, or can not use its database, whatever the reason. The same request may ' +
      'pass after `Retry-After` seconds.',
    message: 'The service is busy. Retry shortly.',
  },
};

const EXAMPLE_REQUEST_ID = '019ab3f6-1c20-7e11-9d3a-4b5c6d7e8f90';
/** Codes of errors that are answered before the rate limit counts the request. */
const BEFORE_RATE_LIMIT: ApiErrorCode[] = ['UNAUTHENTICATED', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE'];
export const ANSWER_HEADERS = ['X-Request-Id', 'Cache-Control', 'X-Content-Type-Options', 'Vary'];
export const RATE_LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Documentation of errors whose meaning differs on routes without an API key. */
export interface OtherErrors {
  /** Prefix of the responses' names among the components of an OpenAPI document. */
  name: string;
  documentation: Partial<Record<ApiErrorCode, ErrorDocumentation>>;
  /** Headers that only the answers of these routes have. */
  headers?: string[];
}

/** Property that names a documented response among the components of an OpenAPI document. */
export const COMPONENT_NAME = 'x-component-name';
type ErrorResponse = ApiResponseOptions & { [COMPONENT_NAME]: string };

/** Returns the documentation of error codes: one response for each HTTP status. */
export function errorResponses(codes: ApiErrorCode[], others?: OtherErrors): ErrorResponse[] {
  const statuses = new Set(codes.map((code) => API_ERROR_STATUS[code]));
  return [...statuses].map((status) =>
    errorResponse(
      status,
      (Object.keys(API_ERROR_STATUS) as ApiErrorCode[]).filter(
        (code) => codes.includes(code) && API_ERROR_STATUS[code] === status,
      ),
      others,
    ),
  );
}

function errorResponse(status: number, codes: ApiErrorCode[], others?: OtherErrors): ErrorResponse {
  const documentation = { ...DOCUMENTATION, ...others?.documentation };
  const isCounted = !others && !codes.some((code) => BEFORE_RATE_LIMIT.includes(code));
  return {
    status,
    [COMPONENT_NAME]: `${others?.name ?? ''}${codes.map(inPascalCase).join('Or')}`,
    description: codes.map((code) => `\`${code}\`: ${documentation[code].when}`).join('\n\n'),
    headers: headerRefs([
      ...ANSWER_HEADERS,
      ...(others?.headers ?? []),
      ...(isCounted ? RATE_LIMIT_HEADERS : []),
      ...(codes.some((code) => RETRYABLE.includes(code)) ? ['Retry-After'] : []),
    ]),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { properties: { error: { properties: { code: { enum: codes } } } } },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: exampleOf(code, documentation[code]) }]),
        ),
      },
    },
  };
}

function inPascalCase(code: ApiErrorCode): string {
  return code
    .split('_')
    .map((word) => word[0] + word.slice(1).toLowerCase())
    .join('');
}

function exampleOf(code: ApiErrorCode, { message, details }: ErrorDocumentation): object {
  return { error: { code, message, ...(details && { details }), requestId: EXAMPLE_REQUEST_ID } };
}

/** Returns references to headers that the OpenAPI document describes once, among its components. */
export function headerRefs(names: string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
