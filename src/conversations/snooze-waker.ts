import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { StepRounds } from '../queue/polling/step-rounds';
import { Database } from '../database/database';
import { Polls } from '../queue/polling/polls';
import { SteppedSearch } from '../queue/polling/searches';
import { ConversationWriter } from './conversation-writer';
import { BEFORE_ALL_SNOOZES, DueSnoozes, SnoozedConversation, SnoozesRepository } from './snoozes.repository';

/** Number of conversations of a workspace that are opened before another workspace has its turn. */
const BATCH = 10;
/** Number of workspaces whose conversations are opened side by side, each over a connection of its own. */
const SIDE_BY_SIDE = 3;
/** Time in milliseconds for which a conversation is left alone that could not be opened. */
const REST_MS = 10_000;

/**
 * Opens conversations whose snooze has ended, each in a transaction of its own: its lock lets one worker open
 * it, and a worker that is killed leaves it as it was. Workspaces take turns, also those that are suspended:
 * their conversations open on time, and the events wait.
 */
@Injectable()
export class SnoozeWaker implements OnModuleInit {
  private readonly logger = new Logger(SnoozeWaker.name);
  /** Due snoozes that no step has reached yet, by their workspaces. */
  private readonly due = new Map<string, DueSnoozes>();
  /** Times until which conversations are left alone, by their ids. */
  private readonly restsUntil = new Map<string, number>();
  private readonly search: SteppedSearch<typeof BEFORE_ALL_SNOOZES>;
  private readonly rounds = new StepRounds<string>({
    size: BATCH,
    pauseMs: 0,
    sideBySide: SIDE_BY_SIDE,
    list: () => this.listDue(),
    keyOf: (tenantId) => tenantId,
    step: (tenantId, size) => this.wakeSome(tenantId, size),
    onError: (tenantId, err) =>
      this.logger.error({ err, tenantId }, 'snoozed conversations were not opened; it will be retried'),
  });

  constructor(
    private readonly database: Database,
    private readonly snoozes: SnoozesRepository,
    private readonly conversations: ConversationWriter,
    private readonly polls: Polls,
  ) {
    this.search = new SteppedSearch(database, BEFORE_ALL_SNOOZES, async (after, server) => {
      const { due, next } = await this.snoozes.findDue(after, server);
      for (const found of due) if (!this.due.has(found.tenantId)) this.due.set(found.tenantId, found);
      return next;
    });
  }

  onModuleInit(): void {
    this.polls.register('snoozes', () => this.rounds.run(() => this.polls.areHeld));
  }

  private async listDue(): Promise<string[]> {
    const now = performance.now();
    for (const [id, until] of this.restsUntil) if (until <= now) this.restsUntil.delete(id);
    await this.search.run();
    return [...this.due.keys()];
  }

  /** Opens up to `size` conversations of a workspace, and returns whether there may be more. */
  private async wakeSome(tenantId: string, size: number): Promise<boolean> {
    for (let n = 0; n < size; n++) {
      const snoozes = this.due.get(tenantId)!;
      const passed = await this.wakeNext(snoozes);
      if (!passed) {
        this.due.delete(tenantId);
        return false;
      }
      // The next statement begins behind this one: so it reads no rows that are dead, and meets no failing
      // conversation again.
      this.due.set(tenantId, { ...snoozes, after: { endsAt: passed.snoozedUntil, id: passed.id } });
    }
    return true;
  }

  /**
   * Opens the next conversation of a workspace, or passes over it if that fails.
   * @returns the conversation; null when there is no other
   */
  private async wakeNext(snoozes: DueSnoozes): Promise<SnoozedConversation | null> {
    let found = null as SnoozedConversation | null;
    try {
      await this.database.orderedTransaction(async (tx) => {
        found = await this.snoozes.lockNext(tx, snoozes);
        if (found && !this.restsUntil.has(found.id)) await this.conversations.endSnooze(tx, found);
      });
    } catch (error) {
      if (!found) throw error;
      const { tenantId, id: conversationId } = found;
      this.restsUntil.set(conversationId, performance.now() + REST_MS);
      this.logger.error(
        { err: error as Error, tenantId, conversationId },
        'a snoozed conversation was not opened; it will be retried',
      );
    }
    return found;
  }
}
