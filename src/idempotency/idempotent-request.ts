import { createHash } from 'node:crypto';
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../common/app-error';

const MAX_LENGTH = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Request with an `Idempotency-Key`, which a client may send twice. */
export interface IdempotentRequest {
  key: string;
  /** Returns a SHA-256 hash of method, path and body, by which a repetition of the request is recognised. */
  fingerprint(): Buffer;
  /** Reports whether a stored fingerprint is the fingerprint of this request. */
  isSame(fingerprint: Buffer): boolean;
  /** Sets the header `Idempotency-Replayed`, which marks the response as a repetition of the first one. */
  markReplayed(): void;
}

/**
 * Injects a request's `Idempotency-Key` as an IdempotentRequest, or null without the header.
 * @throws AppError INVALID_BODY if the key is malformed or given twice
 */
export const Idempotent = createParamDecorator(
  (_: unknown, context: ExecutionContext): IdempotentRequest | null => {
    const request = context.switchToHttp().getRequest<Request>();
    const [key, ...others] = request.headersDistinct['idempotency-key'] ?? [];
    if (key === undefined) return null;
    if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
      throw AppError.invalidBody('Idempotency-Key', 'not_printable', { max: MAX_LENGTH });
    }
    const response = context.switchToHttp().getResponse<Response>();
    return {
      key,
      fingerprint: () => fingerprintOf(request, canonical),
      isSame: (fingerprint) =>
        // The previous version hashed a body as it was sent. Hashes that it stored stay valid for a day.
        [canonical, (body: unknown) => body].some((form) => fingerprintOf(request, form).equals(fingerprint)),
      markReplayed: () => response.setHeader('Idempotency-Replayed', 'true'),
    };
  },
);

/** Hashes a request's method, path and body. Validate the body before: deep nesting exhausts the stack. */
function fingerprintOf({ method, path, body }: Request, form: (body: unknown) => unknown): Buffer {
  return createHash('sha256')
    .update(`${method}\n${path}\n${JSON.stringify(form(body))}`)
    .digest();
}

/** Copies a JSON value with the keys of its objects sorted, and without fields that are null. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const given = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(given.sort(byKey).map(([key, inner]) => [key, canonical(inner)]));
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
