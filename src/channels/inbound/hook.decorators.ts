import { applyDecorators, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { ErrorCode } from '../../common/app-error';
import { errorResponses, headerRefs, OtherErrors } from '../../common/error-responses';

/** Providers have no key, so an error means something else here than on the API's routes. */
const HOOK_ERRORS: OtherErrors = {
  documentation: {
    INVALID_BODY: {
      when: 'The body is not JSON.',
      message: 'The body cannot be read as JSON.',
    },
    UNAUTHENTICATED: {
      when: 'The request is not signed, or not with the secret of the connection; or there is no such address.',
      message: 'The request is not signed as it must be.',
    },
    FORBIDDEN: {
      when: 'The verify token is not the one of the connection; or there is no such address.',
      message: 'This is not the verify token of this address.',
    },
    PAYLOAD_TOO_LARGE: {
      when: 'The body is larger than 3 MiB.',
      message: 'The body is larger than 3 MiB.',
    },
    RATE_LIMITED: {
      when: 'More than 120 refused requests from one client address within a minute.',
      message: 'Too many refused requests. Retry in 17 s.',
    },
    UNAVAILABLE: {
      when: 'Not everything could be stored now: to be sent again.',
      message: 'The service is busy. Retry shortly.',
    },
  },
};

/** The route takes what a provider tells, signed in this header. */
export function HookEvents(
  provider: string,
  signature: { name: string; description: string },
): MethodDecorator {
  return applyDecorators(
    Post(':hookKey'),
    HttpCode(200),
    ApiOperation({
      summary: `${provider} tells what happened`,
      description: 'Answered once everything is stored. What comes twice is stored once.',
    }),
    HookKey(),
    ApiHeader({ ...signature, required: true }),
    ApiBody({
      description: `Events, as ${provider} documents them. At most 3 MiB.`,
      schema: { type: 'object', example: {} },
    }),
    ApiResponse({ status: 200, description: 'Stored.', headers: headerRefs(['X-Request-Id']) }),
    HookErrors('INVALID_BODY', 'UNAUTHENTICATED', 'PAYLOAD_TOO_LARGE'),
  );
}

/** The route proves to Meta that the address is ours. */
export function HookHandshake(): MethodDecorator {
  return applyDecorators(
    Get(':hookKey'),
    Header('Content-Type', 'text/plain; charset=utf-8'),
    ApiOperation({ summary: 'Meta asks whether the address is ours' }),
    HookKey(),
    ...['hub.mode', 'hub.verify_token', 'hub.challenge'].map((name) =>
      ApiQuery({ name, required: true, schema: { type: 'string' } }),
    ),
    ApiResponse({
      status: 200,
      description: 'It is: `hub.challenge`, as it came.',
      headers: headerRefs(['X-Request-Id']),
      content: { 'text/plain': { schema: { type: 'string' }, example: '1158201444' } },
    }),
    HookErrors('FORBIDDEN'),
  );
}

function HookKey(): MethodDecorator {
  return ApiParam({
    name: 'hookKey',
    description: "The last part of the connection's `hookUrl`.",
    schema: { type: 'string', example: '4tJuZ5iPkI19IvVbNWqfvS2BcLz2ghHC' },
  });
}

function HookErrors(...codes: ErrorCode[]): MethodDecorator {
  const all: ErrorCode[] = [...codes, 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'];
  return applyDecorators(...errorResponses(all, HOOK_ERRORS).map((response) => ApiResponse(response)));
}
