/** Entry of the allowed origins with which any page may show the widget. */
export const ANY_ORIGIN = '*';

export interface WidgetCredentials {
  /** Secret with which the workspace's server signs the ids of logged-in visitors. */
  identitySecret: string;
}

export interface WidgetSettings {
  /** Origins of the pages that may show the widget, or ANY_ORIGIN. */
  allowedOrigins: string[];
  /**
   * Whether visitors and agents see of each other who is online and types; undefined in widgets of before,
   * which show it.
   */
  showsPresence?: boolean;
}
