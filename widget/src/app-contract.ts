import type { Identity, WidgetEvents, WidgetSettings } from './page-api';

// Between the loader and the app. A browser may have an older loader than the app that it loads, so within v1 nothing
// here is removed or changed.

export interface LoaderContext {
  /** As it was when the loader ran: pages patch it. */
  fetch: typeof fetch;
  /** Where the protocol's routes are. */
  serviceUrl: string;
  siteKey: string;
  shadow: ShadowRoot;
  /** The launcher. */
  button: HTMLButtonElement;
  settings: WidgetSettings;
  /** Null after the page's `logout`; undefined when it has said nothing of the visitor. */
  identity: Identity | null | undefined;
  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void;
}

export interface ChatApp {
  open(): void;
  close(): void;
  toggle(): void;
  identify(identity: Identity): void;
  logout(): void;
  /** With all settings, not only those that changed. */
  set(settings: WidgetSettings): void;
}

/** What the app's module exports. */
export interface AppModule {
  start: (context: LoaderContext) => Promise<ChatApp>;
}

/** In localStorage: the visitor's session. Its presence makes the loader load the app before the first open. */
export const sessionKeyOf = (siteKey: string): string => `chat-widget:${siteKey}`;
