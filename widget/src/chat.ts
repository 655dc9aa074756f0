import { sessionKeyOf, type ChatApp, type LoaderContext } from './app-contract';
import { VisitorChat } from './conversation/visitor-chat';
import { chooseTag, loadLocale, withRegion, type Locale } from './locales/locale';
import { OutboxStore } from './outbox/outbox-store';
import type { Identity, WidgetSettings } from './page-api';
import { listenToPage } from './page-events';
import { ServiceClient, ServiceError } from './protocol/service-client';
import { isFromAgent, type Message } from './protocol/types';
import { Refusals } from './refusals';
import { readDismissed, writeDismissed } from './session/dismissed-preview';
import { keepChat, readKept, type KeptChat } from './session/kept-chat';
import { newSession, SessionStore, type StoredSession } from './session/session-store';
import { isAnonymous, newAnonymousOwner, ownerOf } from './session/visitor-session';

export interface ChatDisplay {
  /** Whether the open panel covers the whole page. */
  readonly isFullScreen: boolean;
  show: () => void;
  hide: () => void;
  focus: () => void;
  /** Draws the present state of the chat. */
  update: () => void;
  /** Removes all elements of the chat and draws new ones, with new event listeners. */
  redraw: () => void;
  isNewestSeen: () => boolean;
  /** Draws how much of a file is sent, from 0 to 1. */
  showProgress: (fileId: string, part: number) => void;
}

/** Root object of the app. It decides who the visitor is, and whether the panel is open. */
export class Chat implements ChatApp {
  isOpen = false;
  visitor: VisitorChat;
  private readonly shared;
  private readonly key: string;
  /** Whether this visitor's panel was open in the tab's previous page; undefined if no state is stored. */
  private wasOpen: boolean | undefined;
  /** Whether the last write of the draft and the panel's state to sessionStorage succeeded. */
  private isKept = false;
  private display: ChatDisplay | null = null;
  private switching: Promise<void> = Promise.resolve();
  private readonly announced = new Set<string>();
  private unread = 0;
  private readonly refusals = new Refusals(() => this.tryAgain());
  private listening = new AbortController();

  private constructor(
    readonly context: LoaderContext,
    public settings: WidgetSettings,
    public locale: Locale,
  ) {
    const key = (this.key = sessionKeyOf(context.siteKey));
    this.shared = {
      siteKey: context.siteKey,
      client: new ServiceClient(context.fetch, context.serviceUrl, context.XMLHttpRequest),
      sessions: new SessionStore(key),
      outboxStore: new OutboxStore(key),
    };
    const owner = this.shared.sessions.read()?.owner ?? newAnonymousOwner();
    this.visitor = this.visitorOf(owner, null);
    this.takeOver(readKept(key));
  }

  static async create(context: LoaderContext): Promise<Chat> {
    return new Chat(context, context.settings, await localeOf(context.settings));
  }

  attachDisplay(display: ChatDisplay): void {
    this.display = display;
    const { identity } = this.context;
    const stored = this.shared.sessions.read();
    this.listen();
    if (identity) this.identifyAtStart(identity);
    else if (identity === null && !this.visitor.isAnonymous) this.logout();
    else if (stored) void this.visitor.startChat();
    // A panel in full screen is not opened, because it would hide the page that the visitor has just opened.
    if (this.wasOpen && !display.isFullScreen) this.show();
    this.keep();
    this.changed();
  }

  open(): void {
    if (!this.isOpen) this.show();
    this.display?.focus();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.display?.hide();
    this.keep();
    this.changed();
    this.context.emit('close', undefined);
  }

  toggle(): void {
    if (this.isOpen) this.close();
    else this.open();
  }

  identify(identity: Identity): void {
    const owner = ownerOf(identity);
    if (owner === this.visitor.owner && !this.refusal) this.visitor.session.identify(identity);
    else this.switchTo(owner, identity, this.visitor.isAnonymous);
  }

  /**
   * Ends the session of an identified visitor. An anonymous visitor's session continues, because pages call
   * this whenever no one is logged in.
   */
  logout(): void {
    if (this.visitor.isAnonymous) return;
    this.shared.sessions.write(null);
    this.switchTo(newAnonymousOwner(), null, false);
  }

  set(settings: WidgetSettings): void {
    this.settings = settings;
    void localeOf(settings).then((locale) => {
      if (this.settings !== settings) return;
      this.locale = locale;
      this.changed();
    });
  }

  listen(): void {
    this.listening.abort();
    const { signal } = (this.listening = new AbortController());
    this.shared.sessions.onChange(() => this.onSessionChange(), signal);
    const handlers = {
      wake: () => {
        if (document.visibilityState === 'visible') this.visitor.wake();
        this.tryAgain();
        this.changed();
      },
      change: () => this.changed(),
      suspend: () => this.visitor.suspend(),
      resume: () => this.visitor.resume(),
      comeBack: () => this.comeBack(),
    };
    listenToPage(handlers, signal);
    this.display?.redraw();
  }

  /** Stores the draft in sessionStorage, so that it survives a change of page. */
  keepDraft(draft: string): void {
    this.visitor.draft = draft;
    this.visitor.presence.type(draft);
    this.keep();
  }

  /** Queues the draft's files, and a text, as a message. */
  async send(body: string): Promise<void> {
    await this.visitor.write(body);
    this.keep();
  }

  completeForm(said: NonNullable<StoredSession['said']>): void {
    const { sessions } = this.shared;
    sessions.write({ ...(sessions.read() ?? newSession(this.visitor.owner)), said });
    this.changed();
  }

  get refusal(): Refusals['present'] {
    return this.refusals.present;
  }

  /** Newest unread message of an agent, if the panel is closed and its preview was not dismissed. */
  get preview(): Message | null {
    const { unread, timeline } = this.visitor;
    const newest = timeline.messages.findLast(isFromAgent);
    const isShown = !this.isOpen && unread > 0 && newest && newest.id > readDismissed(this.key);
    return isShown ? newest : null;
  }

  dismissPreview(): void {
    if (this.preview) writeDismissed(this.key, this.preview.id);
    this.changed();
  }

  get isFormDone(): boolean {
    return Boolean(this.shared.sessions.read()?.said);
  }

  /** Sets the identity before the first request, because the stored session may belong to another visitor. */
  private identifyAtStart(identity: Identity): void {
    try {
      if (ownerOf(identity) === this.visitor.owner) {
        this.visitor.session.identify(identity);
        void this.visitor.startChat();
      } else this.identify(identity);
    } catch (error) {
      this.refuse(new ServiceError(401, String(error)));
    }
  }

  private show(): void {
    this.dismissPreview();
    this.isOpen = true;
    this.display?.show();
    this.tryAgain();
    this.visitor.look();
    this.keep();
    this.changed();
    this.context.emit('open', undefined);
  }

  private keep(): void {
    const { owner, draft, chosen } = this.visitor;
    this.isKept = keepChat(this.key, { owner, draft, files: chosen.list, isOpen: this.isOpen });
  }

  /** Restores the draft and the panel's state that the tab's previous page stored. */
  private takeOver(kept: KeptChat | null): void {
    // An anonymous visitor's draft is restored too, because the same person has logged in since.
    const own = kept && (kept.owner === this.visitor.owner || isAnonymous(kept.owner)) ? kept : null;
    this.visitor.draft = own?.draft ?? '';
    void this.visitor.chosen.replace(own?.files ?? []);
    this.wasOpen = own?.isOpen;
  }

  private comeBack(): void {
    // While the browser kept this page in its cache, the visitor may have typed or logged in or out
    // elsewhere.
    const kept = readKept(this.key);
    this.onSessionChange();
    if (this.isKept) this.takeOver(kept);
    this.visitor.resume();
  }

  /** Switches to the visitor of the stored session, which another tab has begun, changed or removed. */
  private onSessionChange(): void {
    const owner = this.shared.sessions.read()?.owner;
    const { visitor } = this;
    if (owner === visitor.owner || (!owner && !visitor.hasBegun)) return;
    this.switchTo(owner ?? newAnonymousOwner(), null, visitor.isAnonymous);
  }

  /**
   * Ends the chat of the present visitor and starts that of `owner`.
   *
   * @param takesUnsent whether `owner` is the same person, whose draft and unsent messages move along
   */
  private switchTo(owner: string, identity: Identity | null, takesUnsent: boolean): void {
    const { sessions } = this.shared;
    const before = this.visitor;
    const next = this.visitorOf(owner, identity);
    if (takesUnsent) {
      next.draft = before.draft;
      void next.chosen.replace(before.chosen.list);
    } else this.wasOpen = false;
    this.visitor = next;
    this.refusals.present = null;
    if (identity && sessions.read()?.owner !== owner) sessions.write(newSession(owner));
    const change = async () => {
      await before.end();
      if (takesUnsent) await before.outbox.moveTo(next.outbox);
      if (sessions.read()?.owner === owner) await next.startChat();
    };
    // The error is caught, so that the next visitor's chat starts even if this switch has failed.
    this.switching = this.switching.then(change).catch((error: unknown) => console.error(error));
    this.keep();
    this.changed();
  }

  private visitorOf(owner: string, identity: Identity | null): VisitorChat {
    const visitor: VisitorChat = new VisitorChat(owner, identity, this.shared, {
      onChange: () => {
        if (visitor !== this.visitor) return;
        if (visitor.connection === 'connected') this.refusals.served(visitor);
        this.changed();
      },
      onChosen: () => visitor === this.visitor && this.keep(),
      onProgress: (fileId, part) => visitor === this.visitor && this.display?.showProgress(fileId, part),
      onFresh: (messages) => visitor === this.visitor && this.announce(messages),
      onRefused: (error) => visitor === this.visitor && this.refuse(error),
      isSeen: () => visitor === this.visitor && this.isOpen && (this.display?.isNewestSeen() ?? false),
    });
    return visitor;
  }

  private refuse(error: unknown): void {
    const code = this.refusals.note(error, this.visitor);
    const message = error instanceof Error ? error.message : String(error);
    if (code) this.context.emit('error', { code, message });
    this.changed();
  }

  /** Starts the chat anew if it was refused as `unavailable` and its panel is open in a visible page. */
  private tryAgain(): void {
    const { visitor, isOpen } = this;
    if (!this.refusals.mayHaveEnded(visitor) || !isOpen || document.visibilityState !== 'visible') return;
    this.switchTo(visitor.owner, visitor.session.identity, true);
    // `switchTo` has reset `present`, but the chat is shown as unavailable until the service has answered.
    this.refusals.present = 'unavailable';
  }

  private announce(messages: Message[]): void {
    for (const { id, senderType, senderName, body, createdAt } of messages) {
      if (this.announced.has(id)) continue;
      this.announced.add(id);
      this.context.emit('message', { id, senderType, senderName, body, createdAt });
    }
  }

  private changed(): void {
    const { unread } = this.visitor;
    if (unread !== this.unread) this.context.emit('unread', (this.unread = unread));
    this.display?.update();
  }
}

function localeOf({ locale, texts }: WidgetSettings): Promise<Locale> {
  const { languages } = navigator;
  const tag = withRegion(chooseTag([locale, document.documentElement.lang, ...languages]), languages);
  return loadLocale(tag, texts);
}
