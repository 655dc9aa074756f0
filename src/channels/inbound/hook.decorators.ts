import { applyDecorators, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { ApiErrorCode } from '../../common/app-error';
import { CHANNELS, describeChannel, HookDescriptor, slugOf } from '../../common/channel-descriptors';
import { ANSWER_HEADERS, errorResponses, headerRefs, OtherErrors } from '../../http/error-responses';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/** Matches the start of a hook's path, such as `/channels/telegram/`. Ignores case, as Express does. */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');

/** Errors of hooks for OpenAPI. Some differ in meaning from the REST API's, as providers have no API key. */
const HOOK_ERRORS: OtherErrors = {
  name: 'Hook',
  documentation: {
    INVALID_BODY: {
      when: 'The body is not JSON.',
      message: 'The body cannot be read as JSON.',
    },
    UNAUTHENTICATED: {
      when: 'The request is not signed with the secret of the connection, or the address is unknown.',
      message: 'The request is not signed as it must be.',
    },
    FORBIDDEN: {
      when: 'The verify token is not that of the connection, or the address is unknown.',
      message: 'This is not the verify token of this address.',
    },
    PAYLOAD_TOO_LARGE: {
      when: 'The body is larger, or has more events, than the provider documents.',
      message: 'The body is larger than 3 MiB.',
    },
    RATE_LIMITED: {
      when:
        'A refused request after 120 others from one client address within a minute, too many requests for the connection at once, ' +
        'or within five seconds after one that had too many events.',
      message: 'Too many refused requests. Retry in 17 s.',
    },
    UNAVAILABLE: {
      when: 'Some events could not be stored, or too many requests are in flight: send the request again.',
      message: 'The service is busy. Retry shortly.',
    },
  },
};

export function HookEvents(provider: string, { signature, batch }: HookDescriptor): MethodDecorator {
  return applyDecorators(
    Post(':hookKey'),
    HttpCode(200),
    ApiOperation({
      summary: `${provider} sends events`,
      description: 'Returns when all events are stored. A repeated event is stored once.',
    }),
    HookKey(),
    ApiHeader({ ...signature, required: true }),
    ApiBody({
      description: `Events, as ${provider} documents them. At most ${batch.maxMebibytes} MiB and ${batch.maxEvents} events.`,
      schema: { type: 'object', example: {} },
    }),
    ApiResponse({ status: 200, description: 'Stored.', headers: headerRefs(ANSWER_HEADERS) }),
    HookErrors('INVALID_BODY', 'UNAUTHENTICATED', 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE'),
  );
}

/** Declares the route with which Meta verifies a hook's URL. */
export function HookHandshake(): MethodDecorator {
  return applyDecorators(
    Get(':hookKey'),
    Header('Content-Type', 'text/plain; charset=utf-8'),
    ApiOperation({ summary: 'Meta verifies the address' }),
    HookKey(),
    ...['hub.mode', 'hub.verify_token', 'hub.challenge'].map((name) =>
      ApiQuery({ name, required: true, schema: { type: 'string' } }),
    ),
    ApiResponse({
      status: 200,
      description: 'Verified: the value of `hub.challenge`.',
      headers: headerRefs(ANSWER_HEADERS),
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

function HookErrors(...codes: ApiErrorCode[]): MethodDecorator {
  const all: ApiErrorCode[] = [...codes, 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'];
  return applyDecorators(...errorResponses(all, HOOK_ERRORS).map((response) => ApiResponse(response)));
}
