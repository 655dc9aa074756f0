import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkspaceServer } from '../../database/placement/placement';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { FairItems, StepOutcome, WorkItem } from './fair-items';
import { Polls } from './polls';

export interface WorkSearch<Item, Position> {
  first: Position;
  /** Largest number of calls of `find` for each server in one second; 10 by default. */
  maxSteps?: number;
  /** Returns a bounded number of due items after a position. Locks none. `next` is null if none follow. */
  find(after: Position, server: WorkspaceServer): Promise<{ items: Item[]; next: Position | null }>;
}

export interface SteppedWork<Item extends WorkItem, Position> {
  name: string;
  search?: WorkSearch<Item, Position>;
  /** Amount of work of one step, such as a number of rows; 1 by default. Each failed step halves it. */
  size?: number;
  /** Pause in milliseconds after each step, so that the steps do not slow down other work. */
  pauseMs?: number;
  /** Number of workspaces whose steps run concurrently, each over its own connection; 1 by default. */
  sideBySide?: number;
  step(item: Item, size: number): Promise<StepOutcome>;
}

/** Kind of work whose steps are one transaction each, so that a step's rows and progress commit together. */
export type TransactionalWork<Item extends WorkItem, Position> = Omit<SteppedWork<Item, Position>, 'step'> & {
  transaction?: 'queueTransaction' | 'orderedTransaction';
  step(tx: Transaction, item: Item, size: number): Promise<StepOutcome>;
};

/**
 * Runs all work that is done in steps. Once a second, a search for each kind of work finds the due items.
 * Workspaces take turns, each with one step of one item, so that a big or a failing item does not delay other
 * items. Every worker runs every kind of work. A step must lock its item, so that only one worker works on
 * it. If a worker is killed, another one continues its work.
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
   * Registers work whose steps are one transaction each.
   * @returns a function that adds items which the search does not find
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

  /**
   * Registers work whose steps open transactions themselves.
   * @returns a function that adds items which the search does not find
   */
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
