import { applyDecorators, createParamDecorator, ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { Request } from 'express';
import { ApiErrors } from './api.decorators';
import { Principal } from './principal';
import { Scope } from './scope';

export const PUBLIC = 'access:public';
export const SCOPES_ALLOWED = 'access:scopes';

/** Opens a route to callers without a key. Every other route is closed. */
export const Public = () => SetMetadata(PUBLIC, true);

/** Opens a route to keys that hold at least one of these scopes. */
export const RequireScope = (...scopes: [Scope, ...Scope[]]) =>
  applyDecorators(
    SetMetadata(SCOPES_ALLOWED, scopes),
    ...scopes.map((scope) => ApiSecured(scope)),
    ApiErrors('FORBIDDEN'),
  );

/** Opens a route to every valid key, whatever its scopes. */
export const AnyScope = () => applyDecorators(SetMetadata(SCOPES_ALLOWED, []), ApiSecured());

/** Documents what the guard checks: a key in either header, with these scopes. */
const ApiSecured = (...scopes: Scope[]) =>
  applyDecorators(ApiSecurity('bearer', scopes), ApiSecurity('apiKey', scopes));

/** A request that has passed ApiKeyGuard. */
export interface AuthenticatedRequest extends Request {
  principal: Principal;
}

export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().principal,
);
