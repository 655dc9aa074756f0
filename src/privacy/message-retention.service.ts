import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { idFloor, LOWEST_ID } from '../common/ids';
import { Database } from '../database/database';
import { MessageRange, MessagesRepository } from '../messages/messages.repository';
import { MessageRetention, WorkspacesRepository } from '../workspaces/workspaces.repository';
import { ErasedStep, MessageEraser } from '../messages/message-eraser';

/** Number of workspaces whose messages are erased in turns. */
const SIDE_BY_SIDE = 20;
/** Number of workspaces that one statement lists. */
const STEP = 1_000;
/** Number of conversations that one statement looks at. */
const CONVERSATIONS = 500;
/** Number of messages that one step erases. */
const BATCH = 200;
/** Pause between rounds of steps, so that the clean-up does not slow other work. */
const PAUSE_MS = 20;

/**
 * Erases messages that are older than their workspace keeps them, in small steps of one workspace each. The
 * next run begins again where a run was stopped or killed; a message that is erased already costs it a
 * look-up.
 */
@Injectable()
export class MessageRetentionService {
  private readonly logger = new Logger(MessageRetentionService.name);

  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly messages: MessagesRepository,
    private readonly eraser: MessageEraser,
  ) {}

  /**
   * Erases the expired messages of all workspaces.
   * @returns the number of erased messages
   */
  async clean(stop?: AbortSignal): Promise<number> {
    const waiting = await this.listExpired();
    let running: AsyncGenerator<number>[] = [];
    let erased = 0;
    while (!stop?.aborted) {
      running.push(
        ...waiting.splice(0, SIDE_BY_SIDE - running.length).map((one) => this.eraseWorkspace(one)),
      );
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

  private async listExpired(): Promise<MessageRetention[]> {
    const found: MessageRetention[] = [];
    for (let after = LOWEST_ID; ;) {
      const page = await this.workspaces.listMessageRetentions(after, STEP);
      found.push(...page);
      if (page.length < STEP) return found;
      after = page.at(-1)!.tenantId;
    }
  }

  /**
   * Erases the expired messages of a workspace, and yields after each step. A workspace that fails is left to
   * the next night, and the others go on.
   */
  private async *eraseWorkspace(expired: MessageRetention): AsyncGenerator<number> {
    const { tenantId, until } = expired;
    try {
      for (let after: string | null = LOWEST_ID; after !== null;) {
        const step = await this.findConversations(expired, after);
        if (!step) return;
        yield 0;
        for (const conversationId of step.conversationIds)
          yield* this.eraseConversation(expired, conversationId);
        after = step.next;
      }
      await this.workspaces.setMessagesErased(tenantId, until);
    } catch (error) {
      this.logger.error(
        { err: error as Error, tenantId },
        'expired messages of a workspace were not erased; the next run will retry',
      );
    }
  }

  /**
   * Looks at the next conversations of a workspace.
   * @returns those with expired messages or events, and where the next step begins; null when the workspace
   *   now keeps messages for ever
   */
  private async findConversations(
    { tenantId, from, until }: MessageRetention,
    after: string,
  ): Promise<{ conversationIds: string[]; next: string | null } | null> {
    return this.database.queueTransaction(async (tx) => {
      const workspace = await this.workspaces.find(tenantId, tx);
      if (workspace?.messageRetentionDays == null) return null;
      const range = { from: from ? idFloor(from) : LOWEST_ID, until: idFloor(until) };
      const found = await this.messages.findConversations(tx, tenantId, range, after, CONVERSATIONS);
      return {
        conversationIds: found.filter(({ hasExpired }) => hasExpired).map(({ id }) => id),
        next: found.length < CONVERSATIONS ? null : found.at(-1)!.id,
      };
    });
  }

  /**
   * Erases the expired messages of a conversation, and yields after each step. A step that fails is repeated
   * with fewer messages.
   */
  private async *eraseConversation(
    { tenantId, from, until }: MessageRetention,
    conversationId: string,
  ): AsyncGenerator<number> {
    const before = idFloor(until);
    let size = BATCH;
    for (let after: string | null = from ? idFloor(from) : LOWEST_ID; after !== null;) {
      const range: MessageRange = { tenantId, conversationId, after, before };
      const step: ErasedStep | Error = await this.database
        .queueTransaction((tx) => this.eraser.eraseStep(tx, range, size))
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
