import { STANDARD_HEADERS } from '../http/connections/standard-headers';
import { Components } from './document-types';

export const headerComponents: Components['headers'] = {
  'X-Request-Id': {
    description: "The request's id: the caller's own, if it sent a well-formed one, or a new one.",
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: '019ab3f6-1c20-7e11-9d3a-4b5c6d7e8f90',
  },
  'Cache-Control': {
    description: 'No cache may keep the answer.',
    required: true,
    schema: { type: 'string', enum: [STANDARD_HEADERS['Cache-Control']] },
  },
  'X-Content-Type-Options': {
    description: 'The body is of the type that `Content-Type` names, and no other.',
    required: true,
    schema: { type: 'string', enum: [STANDARD_HEADERS['X-Content-Type-Options']] },
  },
  Vary: {
    description: 'The request headers that the answer depends on.',
    required: true,
    schema: { type: 'string', pattern: `^${STANDARD_HEADERS['Vary']}` },
    example: STANDARD_HEADERS['Vary'],
  },
  'Access-Control-Allow-Origin': {
    description: "CORS: the calling page's origin, if the widget allows it, or `*` if it allows any.",
    schema: { type: 'string', minLength: 1 },
    example: 'https://shop.example',
  },
  'Access-Control-Expose-Headers': {
    description: 'CORS: the headers that the page may read.',
    schema: { type: 'string', enum: ['Retry-After, X-Request-Id'] },
    example: 'Retry-After, X-Request-Id',
  },
  'X-RateLimit-Limit': {
    description: 'How many requests a minute this path takes, over all keys of the workspace.',
    schema: { type: 'integer', minimum: 1 },
    example: 240,
  },
  'X-RateLimit-Remaining': {
    description: 'How many of them are left in this window.',
    schema: { type: 'integer', minimum: 0 },
    example: 239,
  },
  'X-RateLimit-Reset': {
    description: 'In how many seconds the window ends.',
    schema: { type: 'integer', minimum: 1 },
    example: 60,
  },
  'Retry-After': {
    description: 'In how many seconds to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 17,
  },
  'Idempotency-Replayed': {
    description: 'Present when the request had been done before, and was not done again.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
};
