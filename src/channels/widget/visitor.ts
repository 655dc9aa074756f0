import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { WidgetCredentials, WidgetSettings } from '../adapters/widget/widget-settings';
import { LoadedConnection } from '../connections/connection-loader';

export type Widget = LoadedConnection & { credentials: WidgetCredentials; settings: WidgetSettings };

export interface Visitor {
  /** Id of the visitor's identity: `user:<id>` for a logged-in visitor, otherwise `visitor:<random>`. */
  externalId: string;
  /** Time at which the token expires; in the past if the request renews a session late. */
  expiresAt: Date;
}

/** Returns the name under which a visitor's uploads are stored. It hashes the id, which may be personal. */
export function uploaderOf({ id }: Widget, externalId: string): string {
  return `contact:${createHash('sha256').update(`${id} ${externalId}`).digest('base64url')}`;
}

export interface WidgetRequest extends Request {
  widget: Widget;
  /** Gives back the request's slot, one of those for the widget's concurrent requests. Idempotent. */
  releaseSlot: () => void;
}

export interface VisitorRequest extends WidgetRequest {
  visitor: Visitor;
}
