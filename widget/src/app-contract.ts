import type { Identity, WidgetEvents, WidgetSettings } from './page-api';

// Contract between the loader and the app. A browser may have an older loader than the app that it loads, so
// within v1 nothing here is removed or changed.

export interface LoaderContext {
  /** The page's `fetch` as it was when the loader ran, before the page patched it. */
  fetch: typeof fetch;
  /** Base address of the protocol's routes. */
  serviceUrl: string;
  siteKey: string;
  shadow: ShadowRoot;
  /** Button of the launcher. */
  button: HTMLButtonElement;
  settings: WidgetSettings;
  /**
   * Identity of the visitor; null after the page's `logout`, undefined before the page's first `identify` or
   * `logout`.
   */
  identity: Identity | null | undefined;
  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void;
}

export interface ChatApp {
  open(): void;
  close(): void;
  toggle(): void;
  identify(identity: Identity): void;
  logout(): void;
  /** Replaces all settings, including the unchanged ones. */
  set(settings: WidgetSettings): void;
  /** Adds all listeners again, after `document.open` has removed them. */
  listen(): void;
}

/** Exports of the app's module. */
export interface AppModule {
  start: (context: LoaderContext) => Promise<ChatApp>;
}

/**
 * Returns the key of the visitor's session in localStorage, and of the tab's chat in sessionStorage. If one
 * of them is set, the loader loads the app before the first open.
 */
export const sessionKeyOf = (siteKey: string): string => `chat-widget:${siteKey}`;
