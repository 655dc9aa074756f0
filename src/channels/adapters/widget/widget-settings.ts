/** Value in `allowedOrigins` that allows every page to show the widget. */
export const ANY_ORIGIN = '*';

export interface WidgetCredentials {
  /** Secret with which the workspace's server signs the ids of logged-in visitors. */
  identitySecret: string;
}

export interface WidgetSettings {
  /** Origins of the pages that may show the widget. ANY_ORIGIN allows all pages. */
  allowedOrigins: string[];
  /** Whether visitors and agents see each other's presence (online, typing); undefined means true. */
  showsPresence?: boolean;
}
