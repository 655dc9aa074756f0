import type { Identity } from '../page-api';
import { ChosenFiles } from '../files/chosen-files';
import { FileSender } from '../files/file-sender';
import type { ItemFile } from '../files/item-files';
import { SharedFiles } from '../files/shared-files';
import { Outbox } from '../outbox/outbox';
import type { OutboxRecord } from '../outbox/outbox-record';
import { OutboxSender } from '../outbox/outbox-sender';
import type { OutboxStore } from '../outbox/outbox-store';
import { ServiceError, type ServiceClient } from '../protocol/service-client';
import { StreamReader, type Connection } from '../protocol/stream-reader';
import { isFromAgent, type ConversationEvent, type Message } from '../protocol/types';
import { newSession, type SessionStore } from '../session/session-store';
import { isAnonymous, VisitorSession } from '../session/visitor-session';
import { TabChannel } from '../tabs/tab-channel';
import { TabOwnership } from '../tabs/tab-ownership';
import { ConversationSync } from './conversation-sync';
import { Presence } from './presence';
import { Receipts, type Receipt } from './receipts';
import { Timeline } from './timeline';

/** Milliseconds in which the bytes of a file must arrive. */
const READ_TIMEOUT_MS = 10 * 60 * 1000;

export interface Shared {
  siteKey: string;
  client: ServiceClient;
  sessions: SessionStore;
  outboxStore: OutboxStore;
}

interface VisitorChatEvents {
  onChange(): void;
  /** Called when the files of the draft have changed. */
  onChosen(): void;
  onProgress(fileId: string, part: number): void;
  onFresh(messages: Message[]): void;
  onRefused(error: unknown): void;
  /** Reports whether the visitor sees the newest message in this tab now. */
  isSeen(): boolean;
}

type TabMessage =
  | { kind: 'hello' }
  | { kind: 'ping' }
  | { kind: 'pong' }
  | { kind: 'event'; event: ConversationEvent }
  | { kind: 'connection'; connection: Connection }
  | { kind: 'record'; record: OutboxRecord }
  | { kind: 'receipt'; receipt: Receipt };

/**
 * Runs the chat of one visitor in this tab. A new visitor gets a new object, so that data of two visitors
 * cannot be mixed.
 */
export class VisitorChat {
  readonly timeline = new Timeline();
  readonly outbox: Outbox;
  readonly chosen: ChosenFiles;
  readonly session: VisitorSession;
  readonly presence: Presence;
  connection: Connection = 'connecting';
  hasBegun = false;
  draft = '';
  private readonly channel: TabChannel<TabMessage>;
  private readonly files: SharedFiles;
  private readonly ownership: TabOwnership;
  private readonly sync: ConversationSync;
  private readonly receipts: Receipts;
  private reader: StreamReader | null = null;
  private sender: OutboxSender | null = null;
  private fileSender: FileSender | null = null;
  /** Latest event that this tab read from the stream for all tabs. A tab that opens later gets it. */
  private latest: ConversationEvent | null = null;
  private seenUpTo = '';
  private isOver = false;

  constructor(
    readonly owner: string,
    identity: Identity | null,
    private readonly shared: Shared,
    private readonly events: VisitorChatEvents,
  ) {
    const { client, sessions, siteKey } = shared;
    const name = `chat-widget:${siteKey}:${owner}`;
    this.outbox = new Outbox(owner, shared.outboxStore, (changed) => this.onOutboxChange(changed));
    this.chosen = new ChosenFiles(shared.outboxStore.files, () => {
      events.onChosen();
      events.onChange();
    });
    this.session = new VisitorSession(owner, identity, client, sessions, () => void this.outbox.forgetSent());
    this.presence = new Presence(
      (isTyping) => this.tellTyping(isTyping),
      () => events.onChange(),
    );
    this.channel = new TabChannel(name, (message) => this.hear(message));
    this.files = new SharedFiles(`${name}:files`, shared.outboxStore.files);
    this.ownership = new TabOwnership(name, this.channel.isShared, {
      onGain: () => void this.own(),
      onLose: () => void this.disown(),
      ping: () => this.channel.post({ kind: 'ping' }),
    });
    const readPage = (limit: number, cursor?: string) => this.session.readMessages(limit, cursor);
    this.sync = new ConversationSync(this.timeline, readPage, {
      onChange: (fresh) => this.onTimelineChange(fresh),
      onRewound: () =>
        void this.outbox.sendAgainUnless(
          (message) => this.timeline.has(message.id) || this.timeline.beginsAfter(message),
        ),
      onRefused: (error) => this.refuse(error),
    });
    this.receipts = new Receipts(
      this.timeline,
      () => events.isSeen(),
      () => this.ownership.isOwner,
      (receipt) => this.session.call('POST', '/receipts', receipt),
      (receipt) => {
        this.takeReceipt(receipt);
        this.channel.post({ kind: 'receipt', receipt });
      },
    );
  }

  get isAnonymous(): boolean {
    return isAnonymous(this.owner);
  }

  get unread(): number {
    return this.timeline.messages.filter(
      (message) => isFromAgent(message) && message.delivery.status !== 'READ' && message.id > this.seenUpTo,
    ).length;
  }

  async startChat(): Promise<void> {
    this.hasBegun = true;
    await this.outbox.load();
    if (this.isOver) return;
    void this.shared.outboxStore.sweepFiles((fileId) => this.chosen.has(fileId));
    this.ownership.start();
    this.channel.post({ kind: 'hello' });
  }

  /**
   * Queues a message with the chosen files. No session is stored before, because most anonymous visitors
   * never write.
   */
  async write(body: string): Promise<void> {
    const { sessions } = this.shared;
    const stored = sessions.read();
    if (!stored) sessions.write(newSession(this.owner));
    const isFirst = this.timeline.messages.length === 0 && this.outbox.records.length === 0;
    const files = this.chosen.take();
    await this.outbox.add({
      body,
      ...(files.length > 0 && { files: [...files] }),
      ...(isFirst && stored?.said),
    });
    if (!this.hasBegun) await this.startChat();
  }

  /**
   * Replaces the text of a stored message of the visitor; null deletes the message.
   *
   * @throws ServiceError if the service refuses the change or does not answer
   */
  async change(clientMessageId: string, body: string | null): Promise<void> {
    const path = `/messages/${clientMessageId}`;
    const { message } = await (body === null
      ? this.session.call<{ message: Message }>('DELETE', path)
      : this.session.call<{ message: Message }>('PATCH', path, { body }));
    // The outbox must forget the old text, because it would send it again if the service lost the message.
    await this.outbox.forget({ clientMessageId });
    this.timeline.add([message]);
    this.events.onChange();
  }

  /**
   * Reads the bytes of a file, from this browser or else from the service.
   *
   * @throws ServiceError if the service does not answer or does not have the file
   */
  async readFile({ fileId, attachmentId }: ItemFile): Promise<Blob> {
    const own = fileId && (await this.shared.outboxStore.files.get(fileId));
    if (own) return own;
    if (!attachmentId) throw new ServiceError(404, 'This browser does not have the file.');
    return this.session.readFile(attachmentId, AbortSignal.timeout(READ_TIMEOUT_MS));
  }

  loadOlder(): Promise<void> {
    return this.sync.loadOlder();
  }

  /** Ends all waits for a new attempt, because the browser is online again or the page is visible. */
  wake(): void {
    this.ownership.check();
    this.reader?.wake();
    this.wakeSenders();
    this.look();
  }

  /** Marks all messages as seen if the visitor sees the newest one now, and schedules a receipt. */
  look(): void {
    if (this.events.isSeen()) this.seenUpTo = this.timeline.messages.at(-1)?.id ?? '';
    this.receipts.update();
  }

  /** Ends this tab's stream and sending when its page is left or frozen, so that another tab takes over. */
  suspend(): void {
    this.ownership.stop();
  }

  resume(): void {
    if (this.hasBegun && !this.isOver) this.ownership.start();
  }

  /** Ends the chat for good. Resolves once this tab no longer sends a message. */
  async end(): Promise<void> {
    this.isOver = true;
    const { sender, fileSender } = this;
    this.ownership.stop();
    this.sync.stop();
    this.receipts.stop();
    this.channel.close();
    this.files.close();
    await Promise.all([sender?.stop(), fileSender?.stop()]);
  }

  private async own(): Promise<void> {
    // The outbox may contain unsent messages of a tab that was closed.
    await this.outbox.load();
    if (!this.ownership.isOwner || this.reader) return;
    const { client } = this.shared;
    const onRefused = (error: unknown) => this.refuse(error);
    this.sender = new OutboxSender(this.outbox, this.session, onRefused);
    this.fileSender = new FileSender(
      this.outbox,
      this.files,
      this.session,
      (fileId, part) => this.events.onProgress(fileId, part),
      () => this.sender?.wake(),
      onRefused,
    );
    this.reader = new StreamReader(client, this.session, {
      onEvent: (event) => {
        this.latest = event;
        this.channel.post({ kind: 'event', event });
        this.take(event);
        this.receipts.update();
      },
      onConnection: (connection) => this.setConnection(connection),
      onRefused,
    });
    void this.reader.readEvents();
    this.wakeSenders();
  }

  private disown(): void {
    this.reader?.stop();
    void this.sender?.stop();
    void this.fileSender?.stop();
    this.reader = this.sender = this.fileSender = null;
  }

  private wakeSenders(): void {
    this.sender?.wake();
    this.fileSender?.wake();
  }

  private hear(message: TabMessage): void {
    const isFromOwner = message.kind === 'pong' || message.kind === 'event' || message.kind === 'connection';
    if (isFromOwner) this.ownership.hear();
    if (message.kind === 'record') this.takeRecord(message.record);
    else if (message.kind === 'receipt') this.takeReceipt(message.receipt);
    else if (this.ownership.isOwner) this.answer(message);
    else if (message.kind === 'event') this.take(message.event);
    else if (message.kind === 'connection') this.setConnection(message.connection);
  }

  private answer({ kind }: TabMessage): void {
    if (kind === 'ping') this.channel.post({ kind: 'pong' });
    if (kind !== 'hello' || !this.latest) return;
    this.channel.post({ kind: 'connection', connection: this.connection });
    this.channel.post({ kind: 'event', event: this.latest });
  }

  private take(event: ConversationEvent): void {
    this.presence.take(event);
    void this.sync.apply(event);
  }

  private tellTyping(isTyping: boolean): void {
    const { conversationId } = this.timeline;
    // An error is ignored, because the next report repeats a lost one, and a report expires by itself.
    if (conversationId)
      this.session.call('POST', '/typing', { conversationId, isTyping }).catch(() => undefined);
  }

  private takeRecord(record: OutboxRecord): void {
    if (this.outbox.take(record)) this.wakeSenders();
  }

  private takeReceipt({ messageId, status }: Receipt): void {
    this.timeline.advance(messageId, status);
    if (status === 'READ' && messageId > this.seenUpTo) this.seenUpTo = messageId;
    this.events.onChange();
  }

  private setConnection(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    if (this.ownership.isOwner) this.channel.post({ kind: 'connection', connection });
    if (connection === 'connected') this.wakeSenders();
    this.events.onChange();
  }

  private onOutboxChange(changed: OutboxRecord | null): void {
    if (changed) {
      this.channel.post({ kind: 'record', record: changed });
      if (changed.state === 'waiting' || changed.state === 'cancelled') this.wakeSenders();
      if (changed.message && changed.state === 'sent') this.events.onFresh([changed.message]);
    }
    this.events.onChange();
  }

  private onTimelineChange(fresh: Message[]): void {
    for (const message of this.timeline.messages)
      if (message.clientMessageId) void this.outbox.markSent(message);
    this.look();
    this.events.onFresh(fresh);
    this.events.onChange();
  }

  private refuse(error: unknown): void {
    if (this.isOver) return;
    this.ownership.stop();
    this.sync.stop();
    this.events.onRefused(error);
  }
}
