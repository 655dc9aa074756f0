import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { idFloor, LOWEST_ID } from '../common/ids';
import { Database } from '../database/database';
import { ErasedStep, MessageEraser, MessageRange } from './message-eraser';

/** Workspaces that take turns. */
const SIDE_BY_SIDE = 20;
/** Workspaces of one read. */
const STEP = 1_000;
/** Conversations that one statement looks at. */
const CONVERSATIONS = 500;
/** Messages of one step. */
const BATCH = 200;
/** Between rounds of steps, so that the clean-up does not slow other work. */
const PAUSE_MS = 20;

/** The messages of a workspace whose time is over, and that no earlier run has erased. */
interface Expired {
  tenantId: string;
  /** Null when no run has ended yet. */
  from: Date | null;
  until: Date;
}

/**
 * Erases messages that are older than their workspace keeps them: in small steps, each in one workspace, in turn. A run
 * that is stopped or killed is begun again by the next one; what is erased already costs it a look-up.
 */
@Injectable()
export class MessageRetentionService {
  private readonly logger = new Logger(MessageRetentionService.name);

  constructor(
    private readonly database: Database,
    private readonly messages: MessageEraser,
  ) {}

  /** @returns the number of erased messages */
  async clean(stop?: AbortSignal): Promise<number> {
    const waiting = await this.expired();
    let running: AsyncGenerator<number>[] = [];
    let erased = 0;
    while (!stop?.aborted) {
      running.push(...waiting.splice(0, SIDE_BY_SIDE - running.length).map((one) => this.eraseOf(one)));
      if (running.length === 0) break;
      const unfinished: AsyncGenerator<number>[] = [];
      for (const steps of running) {
        const { done, value } = (await steps.next()) as IteratorResult<number, undefined>;
        erased += value ?? 0;
        if (!done) unfinished.push(steps);
        if (stop?.aborted) break;
      }
      running = unfinished;
      await sleep(PAUSE_MS);
    }
    if (erased > 0) this.logger.log({ messages: erased }, 'erased expired messages');
    return erased;
  }

  /** By the database's clock. */
  private async expired(): Promise<Expired[]> {
    const found: Expired[] = [];
    for (let after = LOWEST_ID; ;) {
      const rows = await this.database.query<Expired>(
        `SELECT id AS "tenantId", messages_erased_until AS "from", now() - message_retention_days * interval '1 day' AS until
         FROM workspaces WHERE id > $1 AND message_retention_days IS NOT NULL ORDER BY id LIMIT ${STEP}`,
        [after],
      );
      found.push(...rows);
      if (rows.length < STEP) return found;
      after = rows.at(-1)!.tenantId;
    }
  }

  /** One step at a time. A workspace that fails is left to the next night, and the others go on. */
  private async *eraseOf(expired: Expired): AsyncGenerator<number> {
    const { tenantId, until } = expired;
    try {
      for (let after: string | null = LOWEST_ID; after !== null;) {
        const step = await this.findConversations(expired, after);
        if (!step) return;
        yield 0;
        for (const conversationId of step.conversationIds) yield* this.eraseIn(expired, conversationId);
        after = step.next;
      }
      await this.database.query('UPDATE workspaces SET messages_erased_until = $2 WHERE id = $1', [
        tenantId,
        until,
      ]);
    } catch (error) {
      this.logger.error(
        { err: error as Error, tenantId },
        'expired messages of a workspace were not erased; the next run will retry',
      );
    }
  }

  /**
   * A step through the conversations of a workspace.
   * @returns those with expired messages, and where the next step begins; null when the workspace keeps messages for ever
   * now
   */
  private async findConversations(
    { tenantId, from, until }: Expired,
    after: string,
  ): Promise<{ conversationIds: string[]; next: string | null } | null> {
    return this.database.queueTransaction(async (tx) => {
      const [workspace] = await tx.query<{ days: number | null }>(
        'SELECT message_retention_days AS days FROM workspaces WHERE id = $1',
        [tenantId],
      );
      if (workspace?.days == null) return null;
      const rows = await tx.query<{ id: string; isDue: boolean }>(
        `SELECT c.id, EXISTS (SELECT FROM messages m WHERE m.tenant_id = $1 AND m.conversation_id = c.id
           AND m.id > $3 AND m.id < $4) AS "isDue"
         FROM (SELECT id FROM conversations WHERE tenant_id = $1 AND id > $2 AND id < $4
               ORDER BY id LIMIT ${CONVERSATIONS}) AS c ORDER BY c.id`,
        [tenantId, after, from ? idFloor(from) : LOWEST_ID, idFloor(until)],
      );
      return {
        conversationIds: rows.filter(({ isDue }) => isDue).map(({ id }) => id),
        next: rows.length < CONVERSATIONS ? null : rows.at(-1)!.id,
      };
    });
  }

  /** A step that fails is made smaller. */
  private async *eraseIn({ tenantId, from, until }: Expired, conversationId: string): AsyncGenerator<number> {
    const before = idFloor(until);
    let size = BATCH;
    for (let after: string | null = from ? idFloor(from) : LOWEST_ID; after !== null;) {
      const range: MessageRange = { tenantId, conversationId, after, before };
      const step: ErasedStep | Error = await this.database
        .queueTransaction((tx) => this.messages.step(tx, range, size))
        .catch((error: Error) => error);
      if (step instanceof Error) {
        if (size === 1) throw step;
        size = Math.ceil(size / 2);
        yield 0;
      } else {
        after = step.next;
        yield step.erased;
      }
    }
  }
}
