import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor } from 'conversation-messaging-service';
import { type IdentifiedRequest, originOf } from 'conversation-messaging-service/http';
import {
  holderOf,
  type Membership,
  type OpenedSession,
  type SessionHolder,
} from 'conversation-messaging-service/logins';

/** Request with a session, after SessionGuard has attached it. */
export interface SessionRequest extends IdentifiedRequest {
  opened: OpenedSession;
}

/** Request on a route of a workspace, after WorkspaceGuard has attached the person's membership. */
export interface WorkspaceRequest extends SessionRequest {
  membership: Membership;
}

function requestOf<T extends IdentifiedRequest>(context: ExecutionContext): T {
  return context.switchToHttp().getRequest<T>();
}

/** Returns the request's session, with its person and the person's workspaces. */
export const CurrentSession = createParamDecorator(
  (_: unknown, context: ExecutionContext): OpenedSession => requestOf<SessionRequest>(context).opened,
);

/** Returns the logged-in person, as the author of changes to the person's own login. */
export const CurrentHolder = createParamDecorator((_: unknown, context: ExecutionContext): SessionHolder => {
  const request = requestOf<SessionRequest>(context);
  return holderOf(request.opened, originOf(request));
});

export const CurrentMembership = createParamDecorator(
  (_: unknown, context: ExecutionContext): Membership => requestOf<WorkspaceRequest>(context).membership,
);

/** Returns the person as the author of a change in the path's workspace, with the request's origin. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = requestOf<WorkspaceRequest>(context);
  return { type: 'agent', id: request.membership.agentId, origin: originOf(request) };
});

/** Returns the request's origin: address, user agent and id. Works without a session. */
export const CurrentOrigin = createParamDecorator((_: unknown, context: ExecutionContext) =>
  originOf(requestOf<IdentifiedRequest>(context)),
);
