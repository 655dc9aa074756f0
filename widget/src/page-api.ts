import type { Texts } from './locales/en';

/**
 * Methods of `window.chatWidget` once the script has run. Before that it is an array of commands, which the
 * script runs.
 */
export interface ChatWidgetApi {
  open(): void;
  close(): void;
  /** Says who the visitor is. The workspace's server has signed it. */
  identify(identity: Identity): void;
  /** Ends the session of a logged-in visitor. An anonymous visitor stays. */
  logout(): void;
  /** Returns what removes the listener. */
  on<Name extends keyof WidgetEvents>(name: Name, listener: (detail: WidgetEvents[Name]) => void): () => void;
  /** Changes what is given; the rest stays. */
  set(settings: WidgetSettings): void;
  /** A command in the form of the queue: `['open']`. */
  push(...commands: Command[]): void;
}

export type Command = {
  [Name in Exclude<keyof ChatWidgetApi, 'push'>]: [Name, ...Parameters<ChatWidgetApi[Name]>];
}[Exclude<keyof ChatWidgetApi, 'push'>];

export type Identity = ({ jwt: string } | { id: string; signature: string }) & {
  name?: string;
  email?: string;
};

export interface WidgetSettings {
  /** A BCP 47 tag, such as `de` or `pt-BR`. */
  locale?: string;
  theme?: 'auto' | 'light' | 'dark';
  /** The side of the page. Without it, the one where lines end. */
  position?: 'right' | 'left';
  title?: string;
  /** Shown above the first message. */
  welcome?: string;
  /** Asked once, before an anonymous visitor's first message. */
  form?: VisitorForm;
  /** Replaces texts of the widget, or adds a language. */
  texts?: Partial<Texts>;
}

export interface VisitorForm {
  name?: 'optional' | 'required';
  email?: 'optional' | 'required';
}

export interface WidgetEvents {
  /** The script has run. */
  ready: undefined;
  open: undefined;
  close: undefined;
  /** A new message, of an agent or of the visitor in any tab. */
  message: PageMessage;
  /** Number of agent messages that the visitor has not seen. */
  unread: number;
  error: WidgetError;
}

export interface PageMessage {
  id: string;
  senderType: string;
  senderName: string | null;
  body: string;
  createdAt: string;
}

export interface WidgetError {
  /**
   * `load`: the app could not be loaded. `identity`: the service refuses the identity, or it has expired:
   * identify again. `unavailable`: the page's origin is not allowed, or the widget is disconnected.
   */
  code: 'load' | 'identity' | 'unavailable';
  message: string;
}
