import type { Method } from '../protocol/service-client';

// Contract between the app and the form for an e-mail address, which the app loads once the visitor has
// written. During an upgrade, an app of one build may get the form of another, so nothing in this file may be
// removed or changed.

export interface MailModule {
  offerMail: (box: HTMLElement, host: MailHost) => Promise<void>;
}

export interface MailHost {
  /** BCP 47 tag of the panel's language. */
  tag: string;
  /** Calls the route for the address with the visitor's token. */
  call: <Answer>(method: Method, body?: object) => Promise<Answer>;
}
