import type { Request } from 'express';
import { LoadedConnection } from '../connections/connection.loader';

/** Any page may hold the widget. */
export const ANY_ORIGIN = '*';

/** What only the workspace and we know: logged-in visitors are vouched for with it. */
export interface WidgetCredentials {
  identitySecret: string;
}

/** Whose pages may hold the widget: exact origins, or any. */
export interface WidgetSettings {
  allowedOrigins: string[];
}

/** A workspace's widget. */
export type Widget = LoadedConnection & { credentials: WidgetCredentials; settings: WidgetSettings };

/** Someone at a widget, for as long as a token says. */
export interface Visitor {
  /** The identity of their contact: `user:<id>` for one that the workspace vouches for, else `visitor:<random>`. */
  externalId: string;
  expiresAt: Date;
}

/** A request that has passed the widget's guard. */
export interface WidgetRequest extends Request {
  widget: Widget;
}

/** A request that has passed the visitor's guard as well. */
export interface VisitorRequest extends WidgetRequest {
  visitor: Visitor;
}
