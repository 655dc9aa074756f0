import { applyDecorators, Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiResponse,
  ApiSchema,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiErrorCode } from '../common/app-error';
import { ANSWER_HEADERS, errorResponses, headerRefs, RATE_LIMIT_HEADERS } from './error-responses';
import { MAX_LIMIT } from '../common/page';

// These decorators document routes for OpenAPI. They do not change the behaviour of a route.

const SUCCESS_HEADERS = [...ANSWER_HEADERS, ...RATE_LIMIT_HEADERS];
const COMMON_ERRORS: ApiErrorCode[] = ['UNAUTHENTICATED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'];

interface AnswerOptions {
  status?: number;
  headers?: string[];
  /** Name of the operation; by default it is made of the names of the controller and the method. */
  operationId?: string;
  description?: string;
}

export function ApiAnswer(
  summary: string,
  type: Type,
  { status = 200, headers = [], ...operation }: AnswerOptions = {},
): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(type),
    ApiOperation({ summary, ...operation }),
    ApiResponse({
      description: 'Done.',
      status,
      headers: headerRefs([...SUCCESS_HEADERS, ...headers]),
      schema: { $ref: getSchemaPath(type) },
    }),
    ApiErrors(...COMMON_ERRORS),
  );
}

export function ApiNoContent(summary: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({ summary }),
    ApiResponse({ status: 204, description: 'Done.', headers: headerRefs(SUCCESS_HEADERS) }),
    ApiErrors(...COMMON_ERRORS),
  );
}

export function ApiPage(summary: string, row: Type): MethodDecorator {
  return ApiAnswer(summary, pageOf(row));
}

/** Makes the class that documents a page of `row` for OpenAPI. Its name is made of the name of `row`. */
export function pageOf(row: Type): Type {
  const [, name] = /(\w+?)(?:ListItem)?$/.exec(getSchemaPath(row))!;

  @ApiSchema({ name: `${name}Page` })
  class PageResponse {
    @ApiProperty({ type: [row], maxItems: MAX_LIMIT })
    data: object[];

    @ApiProperty({
      type: String,
      nullable: true,
      description: 'Send it as `cursor` to get the next page. null on the last page.',
      example: null,
    })
    nextCursor: string | null;
  }
  return PageResponse;
}

/** Documents the given errors of a route. The errors that every route has are documented elsewhere. */
export function ApiErrors(...codes: ApiErrorCode[]): MethodDecorator {
  return applyDecorators(...errorResponses(codes).map((response) => ApiResponse(response)));
}

/** Documents the given errors, and the errors of every route that takes a body and no query. */
export function ApiBodyErrors(...codes: ApiErrorCode[]): MethodDecorator {
  return ApiErrors(
    'INVALID_QUERY',
    'INVALID_BODY',
    'TRIAL_EXPIRED',
    'REQUEST_TIMEOUT',
    'PAYLOAD_TOO_LARGE',
    ...codes,
  );
}

export function ApiConversationId(): MethodDecorator {
  return ApiId('conversation', '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11');
}

export function ApiId(thing: string, example: string): MethodDecorator {
  return ApiParam({
    name: 'id',
    description: `The ${thing}'s id.`,
    schema: { type: 'string', example },
  });
}

/**
 * Documents the header that makes a request safe to repeat.
 * @param repeatGets description of the answer to a repeated request
 */
export function ApiIdempotencyKey(repeatGets = 'the first answer again'): MethodDecorator {
  return ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Makes the request safe to repeat: for 24 hours the same request under the same key runs once, and a repeated one ' +
      `gets ${repeatGets}, with \`Idempotency-Replayed: true\`. Another request under that key gets 409.`,
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]+$',
      example: 'order-1042-shipped',
    },
  });
}
