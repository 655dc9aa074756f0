import {
  applyDecorators,
  createParamDecorator,
  ExecutionContext,
  SetMetadata,
  Type,
  UseGuards,
} from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiSecurity,
  getSchemaPath,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import { ApiErrorCode } from '../../common/app-error';
import { ANSWER_HEADERS, errorResponses, headerRefs, OtherErrors } from '../../http/error-responses';
import { pageOf } from '../../http/api.decorators';
import { VisitorRequest } from './visitor';
import {
  LIMITS,
  LINK_ALLOWED,
  TOKEN_OPTIONAL,
  VisitorGuard,
  WidgetLimit,
  WidgetLimitGuard,
} from './widget.guards';

const CORS_HEADERS = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

/** Errors of the widget's routes. Some differ in meaning from the REST API's, as visitors have no API key. */
const WIDGET_ERRORS: OtherErrors = {
  name: 'Widget',
  documentation: {
    UNAUTHENTICATED: {
      when: "The token is missing, malformed, expired or another widget's; or a visitor's signature is wrong.",
      message: 'Send a token of a session as "Authorization: Bearer …".',
    },
    FORBIDDEN: {
      when: "The page's `Origin` is not allowed; or a session is begun without an `Origin`.",
      message: 'Pages of https://elsewhere.example may not hold this widget.',
    },
    NOT_FOUND: {
      when: 'The widget does not exist or is disconnected; or the message is not in the conversation.',
      message: 'Widget not found.',
    },
    RATE_LIMITED: {
      when: 'Too many requests of one visitor or address in a minute; or too many streams at once.',
      message: 'Too many messages. Retry in 17 s.',
    },
  },
  headers: CORS_HEADERS,
};
const COMMON_ERRORS: ApiErrorCode[] = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

export const VISITOR_SECURITY = 'visitor';

/** Declares a route for visitors. The limits apply in the given order. */
export const ForVisitors = (...limits: WidgetLimit[]) =>
  applyDecorators(SetMetadata(LIMITS, limits), UseGuards(VisitorGuard, WidgetLimitGuard));

/** Declares that a visitor's token is optional. A request with a token renews this token's session. */
export const TokenOptional = () =>
  applyDecorators(
    SetMetadata(TOKEN_OPTIONAL, true),
    ApiSecurity({ [VISITOR_SECURITY]: [] }),
    ApiSecurity({}),
  );

/** Declares that the route also serves who has a link of a mail about unread answers. */
export const LinkAllowed = () => SetMetadata(LINK_ALLOWED, true);

export const TokenRequired = () => ApiSecurity(VISITOR_SECURITY);

export function WidgetAnswer(summary: string, type: Type, ...statuses: number[]): MethodDecorator {
  const responses = statuses.map((status) =>
    ApiResponse({ ...DONE, status, schema: { $ref: getSchemaPath(type) } }),
  );
  return applyDecorators(ApiExtraModels(type), WidgetRoute(summary), ...responses);
}

export function WidgetDone(summary: string): MethodDecorator {
  return applyDecorators(WidgetRoute(summary), ApiResponse({ ...DONE, status: 204 }));
}

export function WidgetPage(summary: string, row: Type): MethodDecorator {
  return WidgetAnswer(summary, pageOf(row), 200);
}

export function WidgetEvents(summary: string, description: string): MethodDecorator {
  const example = 'event: ready\nid: 7\ndata: {"conversationId":"019ab3f4-…","sequence":7}\n\n';
  const content = { 'text/event-stream': { schema: { type: 'string', example } } };
  return applyDecorators(WidgetRoute(summary), ApiResponse({ ...DONE, status: 200, description, content }));
}

export function WidgetBytes(summary: string): MethodDecorator {
  const content = { '*/*': { schema: { type: 'string', format: 'binary', example: 'bytes' } as const } };
  const answers = { 200: 'The bytes.', 206: 'The bytes of the range.' };
  const responses = Object.entries(answers).map(([status, description]) =>
    ApiResponse({ ...BYTES, status: Number(status), description, content }),
  );
  return applyDecorators(
    WidgetRoute(summary),
    ...responses,
    ApiResponse({ ...BYTES, status: 304, description: 'The bytes have this ETag.' }),
  );
}

export function WidgetErrors(...codes: ApiErrorCode[]): MethodDecorator {
  return applyDecorators(
    ...errorResponses([...codes, ...COMMON_ERRORS], WIDGET_ERRORS).map((response) => ApiResponse(response)),
  );
}

export const ApiClientMessageId = () =>
  ApiParam({
    name: 'clientMessageId',
    description: 'The id that the client gave the message.',
    schema: { type: 'string', example: '5f0c2f4e-8d0b-4b58-9a63-0f5b0c3e7f11' },
  });

export const ApiFileId = (thing: string) =>
  ApiParam({
    name: 'id',
    description: `The id of the ${thing}.`,
    schema: { type: 'string', example: '019ab3f7-2a4c-7e51-8d20-3b9c5e7f1a42' },
  });

export const CurrentVisitor = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<Partial<VisitorRequest>>().visitor ?? null,
);

export const CurrentWidget = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<VisitorRequest>().widget,
);

const DONE: ApiResponseOptions = {
  description: 'Done.',
  headers: headerRefs([...ANSWER_HEADERS, ...CORS_HEADERS]),
};

/** Answer with bytes. It has a `Cache-Control` of its own. */
const BYTES: ApiResponseOptions = {
  headers: headerRefs([...ANSWER_HEADERS.filter((name) => name !== 'Cache-Control'), ...CORS_HEADERS]),
};

function WidgetRoute(summary: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({ summary }),
    ApiParam({
      name: 'siteKey',
      description: "The widget's public key: the last part of its connection's `hookUrl`.",
      schema: { type: 'string', example: '4tJuZ5iPkI19IvVbNWqfvS2BcLz2ghHC' },
    }),
  );
}
