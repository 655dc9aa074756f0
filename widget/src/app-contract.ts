import type { Identity, WidgetEvents, WidgetSettings } from './page-api';

// Contract between the loader and the app. A browser may run an old loader from its cache with a new app, so
// nothing in this file may be removed or changed.

export interface LoaderContext {
  /** The page's `fetch` as it was when the loader ran. The page may replace `window.fetch` afterwards. */
  fetch: typeof fetch;
  /** The page's `XMLHttpRequest` as it was when the loader ran; missing in loaders before files. */
  XMLHttpRequest?: typeof XMLHttpRequest;
  /** Address of the service. The paths of the widget's routes, such as `/messages`, are appended to it. */
  serviceUrl: string;
  siteKey: string;
  shadow: ShadowRoot;
  /** Keeps the style sheets of `shadow` for when the page moves its element; missing in earlier loaders. */
  keepStyles?: () => void;
  button: HTMLButtonElement;
  settings: WidgetSettings;
  /** Identity from the page's `identify`; null after `logout`, undefined if neither was called. */
  identity: Identity | null | undefined;
  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void;
}

export interface ChatApp {
  open(): void;
  close(): void;
  toggle(): void;
  identify(identity: Identity): void;
  logout(): void;
  /** Replaces all settings. A setting that `settings` lacks gets its default. */
  set(settings: WidgetSettings): void;
  /** Adds all event listeners again. The loader calls it after `document.open`, which removes them. */
  listen(): void;
}

export interface AppModule {
  start: (context: LoaderContext) => Promise<ChatApp>;
}

/**
 * Returns the key of the session in localStorage, and of the tab's draft and panel state in sessionStorage.
 * If either is stored, the loader loads the app without waiting for a click.
 */
export const sessionKeyOf = (siteKey: string): string => `chat-widget:${siteKey}`;
