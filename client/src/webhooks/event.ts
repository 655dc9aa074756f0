import type { WebhookContext, WebhookEvent as DocumentedEvent } from '../generated/openapi.ts';

/**
 * Name of an event's type that this version of the client does not know: a string like any other. The
 * compiler takes it for a name of its own, so that a `switch` over `event` tells the known types apart.
 */
export declare enum UnknownEventType {
  Any = '',
}

/** Event of an unknown type: an endpoint that is subscribed to `*` gets types that come later. */
export interface UnknownEvent {
  event: UnknownEventType;
  deliveredAt: string;
  data: Record<string, unknown>;
  context?: WebhookContext;
}

/** Body of a webhook. A `switch` over `event` narrows `data`. */
export type WebhookEvent = DocumentedEvent | UnknownEvent;
