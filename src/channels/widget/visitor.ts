import type { Request } from 'express';
import { WidgetCredentials, WidgetSettings } from '../adapters/widget-settings';
import { LoadedConnection } from '../connections/connection-loader';

export type Widget = LoadedConnection & { credentials: WidgetCredentials; settings: WidgetSettings };

/** The holder of a valid token. */
export interface Visitor {
  /** Of the contact's identity: `user:<id>` for a logged-in visitor, else `visitor:<random>`. */
  externalId: string;
  /** In the past when a session is renewed late. */
  expiresAt: Date;
}

/** Has passed WidgetGuard. */
export interface WidgetRequest extends Request {
  widget: Widget;
  /** Gives back its slot; may be called again. */
  releaseSlot: () => void;
}

/** Has passed VisitorGuard. */
export interface VisitorRequest extends WidgetRequest {
  visitor: Visitor;
}
