import { applyDecorators, createParamDecorator, ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';
import { ApiErrors } from './api.decorators';
import { Actor, Origin, Principal } from '../access/principal';
import { IdentifiedRequest } from './connections/request-id';
import { Scope } from '../access/permissions';

export const PUBLIC = 'access:public';
export const SCOPES_ALLOWED = 'access:scopes';

/** Opens a route to callers without a key. Every other route requires a key. */
export const Public = () => SetMetadata(PUBLIC, true);

export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()]) ?? false;
}

/** Opens a route to keys with at least one of these scopes. */
export const RequireScope = (...scopes: [Scope, ...Scope[]]) =>
  applyDecorators(
    SetMetadata(SCOPES_ALLOWED, scopes),
    ...scopes.map((scope) => ApiSecured(scope)),
    ApiErrors('FORBIDDEN', 'WORKSPACE_SUSPENDED'),
  );

/** Opens a route to every valid key, whatever its scopes. */
export const AnyScope = () =>
  applyDecorators(
    SetMetadata(SCOPES_ALLOWED, []),
    ApiSecured(),
    ApiErrors('FORBIDDEN', 'WORKSPACE_SUSPENDED'),
  );

const ApiSecured = (...scopes: Scope[]) =>
  applyDecorators(ApiSecurity('bearer', scopes), ApiSecurity('apiKey', scopes));

export interface AuthenticatedRequest extends IdentifiedRequest {
  principal: Principal;
}

export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().principal,
);

/** Returns the request's key as the author of a change, with the origin of the request. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
  const { apiKeyId, scopes } = request.principal;
  return { type: 'api_key', id: apiKeyId, scopes, origin: originOf(request) };
});

export function originOf({ ip: address, headers, requestId }: IdentifiedRequest): Origin {
  return { address, userAgent: headers['user-agent'], requestId };
}
