import { Injectable, OnModuleInit } from '@nestjs/common';
import { idFloor, idTime, LOWEST_ID } from '../common/ids';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { EventType } from '../outbox/event-catalog';
import { ClaimedEvent } from '../outbox/event-queue.repository';
import { ConsumeEvents, OutboxConsumer } from '../outbox/outbox.consumer';
import { OutboxRelay } from '../outbox/outbox-relay';
import { StepOutcome, WorkItem } from '../queue/polling/fair-items';
import { WorkRunner } from '../queue/polling/work-runner';
import { MessageIndexer } from './message-indexer';
import { MessageIndexRepository } from './message-index.repository';
import { SettledTime } from './settled-time';

/** Types of the events that report a new or changed text. */
const TEXT_TYPES = new Set<EventType>(['message.created', 'message.updated']);
const BATCH = 100;
const SIDE_BY_SIDE = 2;

/** Milliseconds for which a workspace's messages are gathered, so that one transaction indexes several. */
const GATHER_MS = 1_500;

/**
 * Milliseconds between two searches of a server for messages that this process has not noted, because the
 * worker that has relayed them was killed. Less than a multiple of a second, at which polls begin.
 */
const SEARCH_EVERY_MS = 4_500;

/** Messages of a workspace that may be missing in the index. */
interface DueMessages {
  /** Id of the newest known message. */
  latest: string;
  /** Id up to which all messages must be committed before indexing continues. */
  settledAt: string;
}

/**
 * Adds the words of new and changed messages to the search index, some seconds after their events. The outbox
 * relay tells it which workspaces have new messages. A search of all workspaces finds those that it missed.
 */
@Injectable()
export class MessageIndexWorker implements OnModuleInit, OutboxConsumer {
  readonly name = 'message-search';
  private readonly due = new Map<string, DueMessages>();
  /** Times of the last searches, by the server's name (`performance.now()`). */
  private readonly searchedAt = new Map<string, number>();

  constructor(
    runner: WorkRunner,
    private readonly relay: OutboxRelay,
    private readonly indexer: MessageIndexer,
    private readonly index: MessageIndexRepository,
    private readonly settled: SettledTime,
  ) {
    runner.register<WorkItem, string>({
      name: 'message index',
      search: {
        first: LOWEST_ID,
        maxSteps: 1,
        find: async (after, server) => {
          const [{ workspaces, next }] = await Promise.all([
            this.mayFindMissed(server)
              ? this.index.findWorkspaces(after, server)
              : { workspaces: [], next: after },
            this.due.size > 0 && this.settled.sample(),
          ]);
          for (const { tenantId, latest, indexedUntil } of workspaces)
            if (latest && latest > (indexedUntil ?? LOWEST_ID)) this.note(tenantId, latest);
          return { items: this.listDue(), next };
        },
      },
      size: BATCH,
      sideBySide: SIDE_BY_SIDE,
      step: (tx, { tenantId }, size) => this.makeStep(tx, tenantId, size),
    });
  }

  onModuleInit(): void {
    this.relay.register(this);
  }

  prepareConsumer(): Promise<ConsumeEvents> {
    const end = (events: ClaimedEvent[]) => (isCommitted: boolean) =>
      isCommitted && this.noteMessages(events);
    return Promise.resolve((_, events) => ({ end: end(events) }));
  }

  private noteMessages(events: ClaimedEvent[]): void {
    for (const { tenantId, type, id } of events) if (TEXT_TYPES.has(type)) this.note(tenantId, id);
  }

  private note(tenantId: string, id: string): void {
    const known = this.due.get(tenantId);
    if (!known) this.due.set(tenantId, { latest: id, settledAt: id });
    else if (known.latest < id) known.latest = id;
  }

  /** Reports whether a server is to be searched for messages that no relay of this process has noted. */
  private mayFindMissed({ name }: WorkspaceServer): boolean {
    const now = performance.now();
    if (now - (this.searchedAt.get(name) ?? -Infinity) < SEARCH_EVERY_MS) return false;
    this.searchedAt.set(name, now);
    return true;
  }

  private listDue(): WorkItem[] {
    const settled = this.settled.settledId;
    return [...this.due]
      .filter(([, due]) => settled && due.settledAt <= settled)
      .map(([tenantId]) => ({ tenantId }));
  }

  private async makeStep(tx: Transaction, tenantId: string, size: number): Promise<StepOutcome> {
    const step = await this.indexer.indexNext(tx, tenantId, size);
    if (!step) return 'waiting';
    tx.onCommit(() => this.noteIndexed(tenantId, step.until));
    return step.isUnfinished ? 'more' : 'done';
  }

  private noteIndexed(tenantId: string, until: string): void {
    const due = this.due.get(tenantId);
    if (!due) return;
    if (until >= due.latest) this.due.delete(tenantId);
    else due.settledAt = idFloor(new Date(idTime(until).getTime() + GATHER_MS));
  }
}
