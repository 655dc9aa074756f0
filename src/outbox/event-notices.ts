import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { groupByWorkspace } from '../common/group-by';
import { idFloor } from '../common/ids';
import { Periodic } from '../common/periodic';
import { RedisSignals } from '../redis/redis-signals';
import { AppendedEvent } from './event-queue.repository';
import { EventsRepository } from './events.repository';
import { CHANGED_WITHOUT_EVENT, InboxChange, UNHEARD_MS } from './eventless-changes';
import { EVENT_APPENDED } from './outbox.service';

const INTERVAL_MS = 15_000;
/**
 * Age in milliseconds, by its id, up to which an event is checked for a lost Redis signal. One minute is
 * enough, because an event is committed sooner than a minute after its id was made.
 */
const LOOK_BACK_MS = 60_000;
const WORKSPACES = 100;
const EVENTS = 200;
const MAX_HEARD = 1_000;
/** Longest time in milliseconds that a signal is expected to take to this process. */
const HEARD_AFTER_MS = 500;

/** Receives a change; null means that anything in the workspace may have changed. */
export type NoticeCallback = (change: InboxChange | null) => void;

interface Listened {
  readonly callbacks: Set<NoticeCallback>;
  /** Ids of the events that were passed to the callbacks, oldest first. */
  readonly heard: Set<string>;
  readonly stop: () => void;
  readonly listening: Promise<void>;
}

/**
 * Tells callbacks in this process which conversations, contacts and read marks of a workspace have changed,
 * after the changes commit. A change may be told twice. If the Redis signal of an event is lost, the event is
 * found in the database within 15 s, by one statement for all workspaces with callbacks. If the signal of a
 * change without an event is lost, the callbacks never learn of the change.
 */
@Injectable()
export class EventNotices implements BeforeApplicationShutdown {
  private readonly logger = new Logger(EventNotices.name);
  private readonly workspaces = new Map<string, Listened>();
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => this.tellMissed(),
    (error) => this.logger.warn({ err: error }, 'lost notices were not looked for; the next round will'),
  );
  private isStarted = false;

  constructor(
    private readonly signals: RedisSignals,
    private readonly events: EventsRepository,
  ) {}

  /**
   * Calls back for each change of a conversation, a contact or a read mark of the workspace.
   * @returns `stop` ends the calls. `listening` resolves when signals are received; it stays pending while
   *   Redis is down.
   */
  listen(tenantId: string, callback: NoticeCallback): { stop: () => void; listening: Promise<void> } {
    if (!this.isStarted) this.timer.start();
    this.isStarted = true;
    const listened = this.workspaces.get(tenantId) ?? this.listenToWorkspace(tenantId);
    listened.callbacks.add(callback);
    return { stop: () => this.leave(tenantId, callback), listening: listened.listening };
  }

  /** Tells the callbacks about events of the last minute whose Redis signal has not come. */
  async tellMissed(): Promise<void> {
    const after = idFloor(new Date(Date.now() - LOOK_BACK_MS));
    const tenantIds = [...this.workspaces.keys()];
    for (let from = 0; from < tenantIds.length; from += WORKSPACES) {
      const latest = await this.events.listLatest(tenantIds.slice(from, from + WORKSPACES), after, EVENTS);
      for (const [tenantId, events] of groupByWorkspace(latest)) this.tellMissedOf(tenantId, events);
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.timer.stop();
  }

  private listenToWorkspace(tenantId: string): Listened {
    const appended = this.signals.listenBeside(EVENT_APPENDED, tenantId, (event) => {
      // Signals of other workspaces come over the same Redis channel.
      if (event.tenantId === tenantId) this.tell(event);
    });
    const eventless = this.signals.listenBeside(CHANGED_WITHOUT_EVENT, tenantId, (changed) => {
      if (changed.tenantId !== tenantId) return;
      for (const change of changed.changes ?? [null]) this.call(tenantId, change);
    });
    // Processes that found no listener may send no signals for `UNHEARD_MS`. After that time, the callbacks
    // are told that anything may have changed.
    const heard = setTimeout(() => this.call(tenantId, null), UNHEARD_MS + HEARD_AFTER_MS).unref();
    const listened = {
      callbacks: new Set<NoticeCallback>(),
      heard: new Set<string>(),
      stop: () => {
        clearTimeout(heard);
        appended.stop();
        eventless.stop();
      },
      listening: Promise.all([appended.listening, eventless.listening]).then(() => undefined),
    };
    this.workspaces.set(tenantId, listened);
    return listened;
  }

  private leave(tenantId: string, callback: NoticeCallback): void {
    const listened = this.workspaces.get(tenantId);
    if (!listened?.callbacks.delete(callback) || listened.callbacks.size > 0) return;
    this.workspaces.delete(tenantId);
    listened.stop();
  }

  private tellMissedOf(tenantId: string, latest: AppendedEvent[]): void {
    const listened = this.workspaces.get(tenantId);
    if (!listened) return;
    const missed = latest.filter(({ id }) => !listened.heard.has(id)).reverse();
    if (missed.length === 0) return;
    if (latest.length < EVENTS) return missed.forEach((event) => this.tell(event));
    // Events before the 200 listed events may have been missed too, so anything may have changed.
    for (const { id } of missed) noteHeard(listened, id);
    this.call(tenantId, null);
  }

  private tell({ tenantId, id, conversationId, contactId }: AppendedEvent): void {
    const listened = this.workspaces.get(tenantId);
    if (!listened) return;
    noteHeard(listened, id);
    if (conversationId) this.call(tenantId, { conversationId, eventId: id });
    if (contactId) this.call(tenantId, { contactId });
  }

  private call(tenantId: string, change: InboxChange | null): void {
    for (const callback of this.workspaces.get(tenantId)?.callbacks ?? []) callback(change);
  }
}

function noteHeard({ heard }: Listened, id: string): void {
  heard.add(id);
  if (heard.size > MAX_HEARD) heard.delete(heard.values().next().value!);
}
