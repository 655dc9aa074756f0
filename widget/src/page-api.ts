import type { Texts } from './locales/en';

/**
 * Methods of `window.chatWidget` once the script has run. Before that it is an array of commands, which the
 * script then executes.
 */
export interface ChatWidgetApi {
  open(): void;
  close(): void;
  /** Identifies the visitor, with data that the workspace's server has signed. */
  identify(identity: Identity): void;
  /** Ends the session of a logged-in visitor. An anonymous visitor stays. */
  logout(): void;
  /** Adds a listener, and returns a function that removes it. */
  on<Name extends keyof WidgetEvents>(name: Name, listener: (detail: WidgetEvents[Name]) => void): () => void;
  /**
   * Changes the given settings, and leaves the others and those that are undefined.
   * @throws TypeError a setting is unknown or wrong; then none is changed
   */
  set(settings: WidgetSettings): void;
  /** Executes commands in the form of the queue: `['open']`. */
  push(...commands: Command[]): void;
}

export type Command =
  | { [Name in SimpleMethod]: [Name, ...Parameters<ChatWidgetApi[Name]>] }[SimpleMethod]
  | { [Name in keyof WidgetEvents]: ['on', Name, (detail: WidgetEvents[Name]) => void] }[keyof WidgetEvents];

/** Methods whose parameters do not depend on each other. */
type SimpleMethod = Exclude<keyof ChatWidgetApi, 'on' | 'push'>;

export type Identity = ({ jwt: string } | { id: string; signature: string }) & {
  name?: string;
  email?: string;
};

export interface WidgetSettings {
  /** BCP 47 tag of the language, such as `de` or `pt-BR`. */
  locale?: string;
  theme?: 'auto' | 'light' | 'dark';
  /** Side of the page. By default it is the side where lines of text end. */
  position?: 'right' | 'left';
  title?: string;
  /** Text above the first message. */
  welcome?: string;
  /** Fields that are asked for once, before an anonymous visitor's first message. */
  form?: VisitorForm;
  /** Texts that replace the widget's own, or add a language. */
  texts?: Partial<Texts>;
}

export interface VisitorForm {
  name?: 'optional' | 'required';
  email?: 'optional' | 'required';
}

export interface WidgetEvents {
  /** Emitted when the script has run. */
  ready: undefined;
  open: undefined;
  close: undefined;
  /** Emitted for a new message of an agent, or of the visitor in any tab. */
  message: PageMessage;
  /** Emitted with the number of agent messages that the visitor has not seen. */
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
   * Kind of error. `load`: the app could not be loaded. `identity`: the service refuses the identity, or it
   * has expired: identify again. `unavailable`: the page's origin is not allowed, or the widget is
   * disconnected.
   */
  code: 'load' | 'identity' | 'unavailable';
  message: string;
}
