import type { WebhookContext, WebhookEvent as DocumentedEvent } from '../generated/openapi.ts';

/**
 * Event type that this version of the client does not know; at runtime a plain string. It is an enum so that
 * a `switch` over `event` narrows the known types.
 */
export declare enum UnknownEventType {
  Any = '',
}

/**
 * Event of a type that this version of the client does not know. Endpoints that subscribe to `*` receive
 * event types that are added later.
 */
export interface UnknownEvent {
  event: UnknownEventType;
  deliveredAt: string;
  data: Record<string, unknown>;
  context?: WebhookContext;
}

/** Body of a webhook. A `switch` over `event` narrows `data`. */
export type WebhookEvent = DocumentedEvent | UnknownEvent;
