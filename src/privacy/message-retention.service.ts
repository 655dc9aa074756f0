import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { idFloor, LOWEST_ID } from '../common/ids';
import { Database } from '../database/database';
import { MessageRange, MessagesRepository } from '../messages/messages.repository';
import { MessageRetention, WorkspacesRepository } from '../workspaces/workspaces.repository';
import { ErasedStep, MessageEraser } from '../messages/message-eraser';

/** Number of workspaces that are worked on at a time, with one step for each of them in turn. */
const SIDE_BY_SIDE = 20;
const STEP = 1_000;
/** Number of conversations that one statement checks for expired messages. */
const CONVERSATIONS = 500;
const BATCH = 200;
/** Milliseconds of pause after one step of each workspace, so that erasing does not slow other work. */
const PAUSE_MS = 20;

/**
 * Erases messages that are older than their workspace's retention, in small steps. If a run is stopped or
 * killed, the next run begins at the start, and only looks up the messages that are already erased.
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
   * Erases a workspace's expired messages, and yields the number erased after each step. Logs an error
   * instead of throwing it, so that other workspaces go on. The next run tries the workspace once more.
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
   * Reads the next conversations of a workspace. Returns null if the workspace now keeps messages for ever.
   * @returns ids of conversations with expired messages or events, and the id after which to read on, or null
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
   * Erases a conversation's expired messages, and yields the number erased after each step. A failed step is
   * repeated with half as many messages.
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
