import type { Texts } from './locales/en';

/**
 * Methods of `window.chatWidget` after the widget's script has run. Before that, `window.chatWidget` is an
 * array of commands, which the script then executes.
 */
export interface ChatWidgetApi {
  open(): void;
  close(): void;
  /** Names the logged-in visitor, with a JWT or a signature that the workspace's server has made. */
  identify(identity: Identity): void;
  /** Ends the session of an identified visitor. An anonymous visitor's session continues. */
  logout(): void;
  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof WidgetEvents>(name: Name, listener: (detail: WidgetEvents[Name]) => void): () => void;
  /**
   * Changes the given settings. A setting that is missing or undefined does not change.
   *
   * @throws TypeError if a setting is unknown or its value is wrong; then no setting is changed
   */
  set(settings: WidgetSettings): void;
  /** Executes commands; each is an array of a method's name and its arguments, such as `['open']`. */
  push(...commands: Command[]): void;
}

export type Command =
  | { [Name in SimpleMethod]: [Name, ...Parameters<ChatWidgetApi[Name]>] }[SimpleMethod]
  | { [Name in keyof WidgetEvents]: ['on', Name, (detail: WidgetEvents[Name]) => void] }[keyof WidgetEvents];

/** Methods whose parameters have fixed types. In `on`, the type of the listener depends on `name`. */
type SimpleMethod = Exclude<keyof ChatWidgetApi, 'on' | 'push'>;

export type Identity = ({ jwt: string } | { id: string; signature: string }) & {
  name?: string;
  email?: string;
};

export interface WidgetSettings {
  /** BCP 47 tag of the widget's language, such as `de` or `pt-BR`. */
  locale?: string;
  theme?: 'auto' | 'light' | 'dark';
  /** Side of the page. The default is right, or left if the page's text runs from right to left. */
  position?: 'right' | 'left';
  title?: string;
  /** Text that the panel shows above the first message. */
  welcome?: string;
  /** Fields that an anonymous visitor fills in once, before the first message. */
  form?: VisitorForm;
  /** Texts that replace the widget's texts, for example to add a language. */
  texts?: Partial<Texts>;
}

export interface VisitorForm {
  name?: 'optional' | 'required';
  email?: 'optional' | 'required';
}

export interface WidgetEvents {
  /** Emitted once the widget's script has run. */
  ready: undefined;
  open: undefined;
  close: undefined;
  /** Emitted for each new message: one of an agent, or one that the visitor wrote in any tab. */
  message: PageMessage;
  /** Emitted when the number of unread messages of agents changes. The detail is the new number. */
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
   * Kind of error. `load`: the app could not be loaded. `identity`: the identity is refused or has expired,
   * so the page must call `identify` again. `unavailable`: the page's origin is not allowed, or the widget is
   * disconnected.
   */
  code: 'load' | 'identity' | 'unavailable';
  message: string;
}
