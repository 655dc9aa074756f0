import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor } from 'conversation-messaging-service';
import { type IdentifiedRequest, originOf } from 'conversation-messaging-service/http';
import {
  holderOf,
  type Membership,
  type OpenedSession,
  type SessionHolder,
} from 'conversation-messaging-service/logins';

/** A request that has passed SessionGuard on a route that is not public. */
export interface SessionRequest extends IdentifiedRequest {
  opened: OpenedSession;
}

/** A request that has passed WorkspaceGuard on a route below a workspace. */
export interface WorkspaceRequest extends SessionRequest {
  membership: Membership;
}

function requestOf<T extends IdentifiedRequest>(context: ExecutionContext): T {
  return context.switchToHttp().getRequest<T>();
}

/** Returns the session of the request, with its person and their workspaces. */
export const CurrentSession = createParamDecorator(
  (_: unknown, context: ExecutionContext): OpenedSession => requestOf<SessionRequest>(context).opened,
);

/** Returns the person who is logged in, for changes of their own login. */
export const CurrentHolder = createParamDecorator((_: unknown, context: ExecutionContext): SessionHolder => {
  const request = requestOf<SessionRequest>(context);
  return holderOf(request.opened, originOf(request));
});

/** Returns the person's membership in the workspace of the path. */
export const CurrentMembership = createParamDecorator(
  (_: unknown, context: ExecutionContext): Membership => requestOf<WorkspaceRequest>(context).membership,
);

/**
 * Returns the person as the author of a change in the workspace of the path, with the origin of the request.
 */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = requestOf<WorkspaceRequest>(context);
  return { type: 'agent', id: request.membership.agentId, origin: originOf(request) };
});

/** Returns the origin of a request without a session. */
export const CurrentOrigin = createParamDecorator((_: unknown, context: ExecutionContext) =>
  originOf(requestOf<IdentifiedRequest>(context)),
);
