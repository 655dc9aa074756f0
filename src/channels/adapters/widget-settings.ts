/** Any page may show the widget. */
export const ANY_ORIGIN = '*';

/** The workspace's server signs the ids of logged-in visitors with this secret. */
export interface WidgetCredentials {
  identitySecret: string;
}

export interface WidgetSettings {
  /** Exact origins, or ANY_ORIGIN. */
  allowedOrigins: string[];
}
