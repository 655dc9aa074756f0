import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { idFloor, idTime, LOWEST_ID } from '../common/ids';
import { StepRounds } from '../queue/polling/step-rounds';
import { Database } from '../database/database';
import { WorkspaceServer } from '../database/placement/placement';
import { Polls } from '../queue/polling/polls';
import { SteppedSearch } from '../queue/polling/searches';
import { Transaction } from '../database/transaction';
import { Metrics } from '../metrics/metrics';
import { EventType } from '../outbox/event-catalog';
import { ClaimedEvent } from '../outbox/event-queue.repository';
import { OutboxConsumer, PreparedConsumer } from '../outbox/outbox.consumer';
import { OutboxRelay } from '../outbox/outbox-relay';
import { MessageIndexer } from './message-indexer';
import { MessageIndexRepository } from './message-index.repository';
import { SettledTime } from './settled-time';

/** Types whose events tell of texts. */
const TEXT_TYPES = new Set<EventType>(['message.created', 'message.updated']);
/** Number of messages of a workspace that one step indexes. */
const BATCH = 100;
/** Number of workspaces whose new messages are indexed side by side. */
const SIDE_BY_SIDE = 2;
/** Pause between two steps of old messages, so that they slow no other work. */
const OLD_PAUSE_MS = 5;

/** Milliseconds of a workspace's messages that a step waits for, so that messages in a row share steps. */
const GATHER_MS = 1_500;

/** Messages of a workspace that may not be indexed. */
interface DueMessages {
  /** Id of the newest known one. */
  latest: string;
  /** Id up to which all messages must be committed before the next step. */
  settledAt: string;
}

/**
 * Keeps the index of messages' words filled, behind the events. The relay tells of workspaces with new
 * messages, without a row; a search over all workspaces finds those of which no relay of this process has
 * told. New and old messages have rounds of their own, in which workspaces take turns.
 */
@Injectable()
export class MessageIndexWorker implements OnModuleInit, OutboxConsumer {
  readonly name = 'message-search';
  private readonly logger = new Logger(MessageIndexWorker.name);
  /** Workspaces with messages that may not be indexed. */
  private readonly due = new Map<string, DueMessages>();
  /** Workspaces whose old messages are not all indexed. */
  private readonly unfinished = new Set<string>();
  private readonly search: SteppedSearch<string>;
  private readonly newRounds = new StepRounds<string>({
    size: BATCH,
    pauseMs: 0,
    sideBySide: SIDE_BY_SIDE,
    list: () => Promise.resolve(this.listDue()),
    keyOf: (tenantId) => tenantId,
    step: (tenantId, size) => this.indexNew(tenantId, size),
    onError: (tenantId, err) => {
      this.due.delete(tenantId);
      this.logger.error({ err, tenantId }, 'messages were not indexed; it will be retried');
    },
  });
  private readonly oldRounds = new StepRounds<string>({
    size: BATCH,
    pauseMs: OLD_PAUSE_MS,
    list: () => Promise.resolve([...this.unfinished]),
    keyOf: (tenantId) => tenantId,
    step: (tenantId, size) => this.indexOld(tenantId, size),
    onError: (tenantId, err) => {
      this.unfinished.delete(tenantId);
      this.logger.error({ err, tenantId }, 'old messages were not indexed; it will be retried');
    },
  });

  constructor(
    database: Database,
    private readonly relay: OutboxRelay,
    private readonly indexer: MessageIndexer,
    private readonly index: MessageIndexRepository,
    private readonly settled: SettledTime,
    private readonly polls: Polls,
    private readonly metrics: Metrics,
  ) {
    const find = async (after: string, server: WorkspaceServer): Promise<string | null> => {
      const { workspaces, next } = await this.index.findWorkspaces(after, server);
      for (const { tenantId, latest, indexedUntil, stage } of workspaces) {
        if (latest && latest > (indexedUntil ?? LOWEST_ID)) this.note(tenantId, latest);
        if (stage && stage !== 'DONE') this.unfinished.add(tenantId);
      }
      this.metrics.searchFilling.set(this.unfinished.size);
      return next;
    };
    this.search = new SteppedSearch(database, LOWEST_ID, find, 1);
  }

  onModuleInit(): void {
    this.relay.register(this);
    this.polls.register('settled time', () => this.settled.sample());
    this.polls.register('unindexed messages', () => this.search.run());
    this.polls.register('new messages', () => this.newRounds.run(() => this.polls.areHeld));
    this.polls.register('old messages', () => this.oldRounds.run(() => this.polls.areHeld));
  }

  prepareConsumer(tx: Transaction): Promise<PreparedConsumer> {
    return Promise.resolve({
      limitOf: () => Infinity,
      consume: (events) => {
        tx.onCommit(() => this.noteMessages(events));
        return Promise.resolve(new Set());
      },
    });
  }

  guessLimit(): number {
    return Infinity;
  }

  private noteMessages(events: ClaimedEvent[]): void {
    for (const { tenantId, type, id } of events) if (TEXT_TYPES.has(type)) this.note(tenantId, id);
  }

  private note(tenantId: string, id: string): void {
    const known = this.due.get(tenantId);
    if (!known) this.due.set(tenantId, { latest: id, settledAt: id });
    else if (known.latest < id) known.latest = id;
  }

  private listDue(): string[] {
    const settled = this.settled.settledId;
    return [...this.due].filter(([, due]) => settled && due.settledAt <= settled).map(([id]) => id);
  }

  private async indexNew(tenantId: string, size: number): Promise<boolean> {
    const step = await this.indexer.indexNew(tenantId, size);
    const due = this.due.get(tenantId);
    if (!step || !due) return false;
    if (step.until >= due.latest) this.due.delete(tenantId);
    else if (!step.isUnfinished) due.settledAt = idFloor(new Date(idTime(step.until).getTime() + GATHER_MS));
    return step.isUnfinished;
  }

  private async indexOld(tenantId: string, size: number): Promise<boolean> {
    const isUnfinished = await this.indexer.indexOld(tenantId, size);
    // Another worker may have the workspace; it is asked again.
    if (isUnfinished === false) this.unfinished.delete(tenantId);
    return isUnfinished ?? false;
  }
}
