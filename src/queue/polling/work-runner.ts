import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkspaceServer } from '../../database/placement/placement';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { FairItems, StepOutcome, WorkItem } from './fair-items';
import { Polls } from './polls';

/** Search for the items of a kind of work. */
export interface WorkSearch<Item, Position> {
  /** Position at which it begins in each place. */
  first: Position;
  /** Number of steps that it makes in one second; 10 by default. */
  maxSteps?: number;
  /**
   * Makes a bounded step, which locks nothing, and returns the items that are due after a position of a
   * place. `next` is null after the last.
   */
  find(after: Position, server: WorkspaceServer): Promise<{ items: Item[]; next: Position | null }>;
}

/** Kind of work that is done in bounded steps of many items. */
export interface SteppedWork<Item extends WorkItem, Position> {
  /** Name of the work, in the log. */
  name: string;
  search?: WorkSearch<Item, Position>;
  /** Size of a step. It is halved after each step that fails. */
  size?: number;
  /** Pause in milliseconds after each step, so that steps slow no other work. */
  pauseMs?: number;
  /** Number of workspaces whose steps run side by side, each over a connection of its own; 1 by default. */
  sideBySide?: number;
  /** Makes a step of an item, in transactions of its own. */
  step(item: Item, size: number): Promise<StepOutcome>;
}

/** Kind of work each step of which is one transaction: its rows and its progress commit together. */
export type TransactionalWork<Item extends WorkItem, Position> = Omit<SteppedWork<Item, Position>, 'step'> & {
  /** Kind of the transaction; `queueTransaction` by default. */
  transaction?: 'queueTransaction' | 'orderedTransaction';
  step(tx: Transaction, item: Item, size: number): Promise<StepOutcome>;
};

/**
 * Runs all work that is done in steps. A search finds the items that are due, once a second. Workspaces take
 * turns, each with a step of one item: so a big item delays no other, and one that fails holds up no other.
 * Every worker runs every kind. The lock of an item lets one of them make its next step, and another goes on
 * after a worker that was killed.
 */
@Injectable()
export class WorkRunner implements BeforeApplicationShutdown {
  private readonly logger = new Logger(WorkRunner.name);
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly polls: Polls,
    private readonly database: Database,
  ) {}

  /**
   * Registers work whose steps are transactions.
   * @returns a function that adds items which no search finds
   */
  register<Item extends WorkItem, Position>(
    work: TransactionalWork<Item, Position>,
  ): (items: Item[]) => void {
    const { transaction = 'queueTransaction' } = work;
    return this.registerFree({
      ...work,
      step: (item: Item, size) => this.database[transaction]((tx) => work.step(tx, item, size)),
    });
  }

  /** Registers work as `register` does, whose steps open their own transactions. */
  registerFree<Item extends WorkItem, Position>(work: SteppedWork<Item, Position>): (items: Item[]) => void {
    const waiting = new FairItems<Item>();
    let lanes = 0;
    const addItems = (items: Item[]): void => {
      for (const item of items) waiting.add(item);
      for (; waiting.hasNext && lanes < (work.sideBySide ?? 1); lanes++) {
        const lane = this.makeSteps(work, waiting).finally(() => {
          lanes--;
          this.running.delete(lane);
        });
        this.running.add(lane);
      }
    };
    const { search } = work;
    if (search)
      this.polls.search(
        work.name,
        search.first,
        async (after, server) => {
          const { items, next } = await search.find(after, server);
          addItems(items);
          return next;
        },
        search.maxSteps,
      );
    return addItems;
  }

  /** Stops the polls, so that no step begins. Resolves after the steps that run. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.polls.beforeApplicationShutdown();
    await Promise.all(this.running);
  }

  private async makeSteps<Item extends WorkItem>(
    work: SteppedWork<Item, unknown>,
    waiting: FairItems<Item>,
  ): Promise<void> {
    while (!this.polls.areHeld) {
      const item = waiting.takeNext();
      if (!item) return;
      waiting.putBack(item, await this.tryStep(work, item, waiting.sizeOf(item, work.size ?? 1)));
      if (work.pauseMs) await sleep(work.pauseMs);
    }
  }

  private async tryStep<Item extends WorkItem>(
    work: SteppedWork<Item, unknown>,
    item: Item,
    size: number,
  ): Promise<StepOutcome | 'failed'> {
    try {
      return await work.step(item, size);
    } catch (error) {
      this.logger.error(
        { err: error as Error, work: work.name, ...item, size },
        'a step of the work failed; it will be retried',
      );
      return 'failed';
    }
  }
}
