import type { Request } from 'express';
import { WidgetCredentials, WidgetSettings } from '../adapters/widget/widget-settings';
import { LoadedConnection } from '../connections/connection-loader';

export type Widget = LoadedConnection & { credentials: WidgetCredentials; settings: WidgetSettings };

/** Visitor of a widget, who holds a valid token. */
export interface Visitor {
  /** Id of the contact's identity: `user:<id>` for a logged-in visitor, otherwise `visitor:<random>`. */
  externalId: string;
  /** Time at which the token expires. It is in the past when a session is renewed late. */
  expiresAt: Date;
}

/** Request that has passed WidgetGuard. */
export interface WidgetRequest extends Request {
  widget: Widget;
  /** Gives the request's slot back. It may be called again. */
  releaseSlot: () => void;
}

/** Request that has passed VisitorGuard. */
export interface VisitorRequest extends WidgetRequest {
  visitor: Visitor;
}
