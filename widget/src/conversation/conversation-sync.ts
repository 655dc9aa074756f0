import { backoffMs } from '../protocol/backoff';
import type { ConversationEvent, Message, MessagePage, Position } from '../protocol/types';
import { isRefusal } from '../protocol/service-client';
import type { Timeline } from './timeline';

const FIRST_PAGE = 50;
const NEXT_PAGE = 200;

interface SyncEvents {
  /**
   * Called after the timeline has changed.
   *
   * @param fresh messages that are new; empty after the first read and after reading older messages
   */
  onChange(fresh: Message[]): void;
  /** Called after all messages were read again because the service had lost its latest changes. */
  onRewound(): void;
  onRefused(error: unknown): void;
}

/**
 * Reads missing messages into the timeline, by the rules of docs/reference/widget-protocol.md. It handles one
 * event at a time, because an event may require reading pages.
 */
export class ConversationSync {
  private work: Promise<void> = Promise.resolve();
  private latest: ConversationEvent | null = null;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private stopped = false;

  constructor(
    private readonly timeline: Timeline,
    private readonly readPage: (limit: number, cursor?: string) => Promise<MessagePage>,
    private readonly events: SyncEvents,
  ) {}

  apply(event: ConversationEvent): Promise<void> {
    this.latest = event;
    return (this.work = this.work.then(() => this.take(event)));
  }

  loadOlder(): Promise<void> {
    return (this.work = this.work.then(async () => {
      const { olderCursor } = this.timeline;
      if (olderCursor === null || this.stopped) return;
      const page = await this.readPage(FIRST_PAGE, olderCursor).catch(() => null);
      // The failure is ignored, because the visitor can ask for older messages again.
      if (!page) return;
      this.timeline.add(page.data);
      this.timeline.olderCursor = page.nextCursor;
      this.events.onChange([]);
    }));
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.retryTimer);
  }

  private async take(event: ConversationEvent): Promise<void> {
    if (this.stopped) return;
    try {
      if (event.type === 'page') await this.takePage(event.page);
      else if (event.type === 'message') await this.takeMessage(event);
      else await this.reach(event);
      this.timeline.isLoaded = true;
      this.failures = 0;
    } catch (error) {
      if (isRefusal(error)) this.events.onRefused(error);
      else this.retryLater();
    }
  }

  /** Reads again after a pause. The next heartbeat would also cause a read, but may be 15 s away. */
  private retryLater(): void {
    clearTimeout(this.retryTimer);
    this.failures += 1;
    this.retryTimer = setTimeout(() => {
      if (this.latest) void this.apply(this.latest);
    }, backoffMs(this.failures));
  }

  /** Adds an event's message, and reads missing messages (rule 2 of docs/reference/widget-protocol.md). */
  private async takeMessage(event: Position & { message: Message }): Promise<void> {
    const { timeline } = this;
    const isNext = timeline.sequence !== null && event.sequence === timeline.sequence + 1;
    if (timeline.sequence === null || this.isOther(event)) return this.reach(event);
    // An event may arrive after newer messages were read. If its message is older than the oldest loaded one,
    // it is left out until the visitor loads older messages.
    const fresh = timeline.beginsAfter(event.message) ? [] : timeline.add([event.message]);
    this.events.onChange(fresh);
    if (fresh.length > 0 && isNext) timeline.reached(event);
    else await this.reach(event);
  }

  private async reach(position: Position): Promise<void> {
    const { timeline } = this;
    const { sequence } = timeline;
    if (sequence === null || this.isOther(position)) await this.readNewest(position);
    else if (position.sequence > sequence) await this.readBack(position);
    else if (position.sequence < sequence) await this.readAnew(position);
  }

  /**
   * Reports whether an event is of another conversation than the loaded messages (rule 3 of
   * docs/reference/widget-protocol.md). False for an event without a conversation, because the service may
   * have lost the conversation (rule 4).
   */
  private isOther({ conversationId }: Position): boolean {
    const known = this.timeline.conversationId;
    return known !== null && conversationId !== null && known !== conversationId;
  }

  private async readNewest(position: Position): Promise<void> {
    const isFirst = this.timeline.sequence === null;
    const page =
      position.conversationId === null ? { data: [], nextCursor: null } : await this.readPage(FIRST_PAGE);
    this.timeline.replace(page.data, page.nextCursor);
    this.timeline.reached(position);
    this.events.onChange(isFirst ? [] : page.data.toReversed());
  }

  /** Reads the missing messages up to an event (rule 1 of docs/reference/widget-protocol.md). */
  private async readBack(position: Position): Promise<void> {
    const { timeline } = this;
    const { data } = await this.readOn(await this.readPage(FIRST_PAGE), (read) => timeline.isReachedBy(read));
    const added = timeline.add(data);
    timeline.reached(position);
    this.events.onChange(added);
  }

  /** Reads all shown messages again, because the service has lost changes (rule 4 of widget-protocol.md). */
  private async readAnew(position: Position): Promise<void> {
    const { timeline } = this;
    const oldest = timeline.messages[0]?.id;
    const { data, nextCursor } = await this.readOn(
      await this.readPage(NEXT_PAGE),
      (read) => !oldest || read.at(-1)!.id <= oldest,
    );
    timeline.replace(data, nextCursor);
    timeline.reached(position);
    this.events.onRewound();
    this.events.onChange([]);
  }

  /**
   * Adds the messages of a polled page, which has no sequence number. It reads older pages until one contains
   * a known message, because then no message in between is missing.
   */
  private async takePage(page: MessagePage): Promise<void> {
    const { timeline } = this;
    const isFirst = timeline.messages.length === 0;
    const meets = (read: Message[]) => read.some(({ id }) => timeline.has(id));
    const { data, nextCursor } = await this.readOn(page, (read) => isFirst || meets(read));
    if (data.length === 0 || meets(data)) this.events.onChange(timeline.add(data));
    else {
      timeline.replace(data, nextCursor);
      this.events.onChange(isFirst ? [] : data.toReversed());
    }
  }

  /** Reads older pages until `isEnough` returns true or the history ends. Returns all as one page. */
  private async readOn(first: MessagePage, isEnough: (read: Message[]) => boolean): Promise<MessagePage> {
    const data = [...first.data];
    let { nextCursor } = first;
    while (nextCursor && !isEnough(data)) {
      const page = await this.readPage(NEXT_PAGE, nextCursor);
      data.push(...page.data);
      ({ nextCursor } = page);
    }
    return { data, nextCursor };
  }
}
