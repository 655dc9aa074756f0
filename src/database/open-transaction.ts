import { QueryFailedError } from 'typeorm';
import { DatabaseUnavailable, followsFromAnother } from './driver/database-errors';
import { DatabaseClient } from './driver/database-client';
import { WriteStatement } from './placement/placement';
import { Transaction } from './transaction';

/** Runs the work of one transaction, and commits it or rolls it back. Only `Database` uses this class. */
export class OpenTransaction extends Transaction {
  private end!: (how: 'committed' | 'rolled back') => void;
  readonly ended = new Promise<'committed' | 'rolled back'>((resolve) => (this.end = resolve));
  private readonly begun: Promise<unknown>;
  /** Whether the server has ended the transaction, so that its connection can be used again. */
  isOver = false;

  /** Begins a transaction. BEGIN is sent together with the first statements of the work. */
  constructor(client: DatabaseClient, write: WriteStatement) {
    super(client, write);
    this.begun = client.runGrouped('BEGIN');
    this.begun.catch(() => undefined);
  }

  /**
   * Runs `work` and commits the transaction, or rolls it back if a statement or `work` fails.
   * @throws DatabaseUnavailable when the transaction can't begin; otherwise the first error that is not just
   *   a consequence of another statement's failure
   */
  async runWork<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    let value: T;
    const failures: unknown[] = [];
    try {
      value = await work(this);
      await this.commit();
    } catch (error) {
      failures.push(error);
    }
    // Pipelined errors come first, because a COMMIT after a failed statement does not say why it rolled back.
    failures.unshift(...(await this.pipelinedFailures()));
    if (failures.length === 0) return value!;
    this.end('rolled back');
    await this.rollBack();
    throw failures.find((error) => !followsFromAnother(error)) ?? failures[0];
  }

  /** Runs the callbacks of `onCommit`. They run before any code that awaits `ended` continues. */
  committed(): void {
    this.end('committed');
    for (const callback of this.callbacks) callback();
  }

  private async commit(): Promise<void> {
    const { command } = await this.client.runGrouped('COMMIT');
    this.isOver = true;
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: one of its statements failed');
  }

  private async rollBack(): Promise<void> {
    try {
      await this.begun;
    } catch (error) {
      throw new DatabaseUnavailable((error as QueryFailedError).driverError);
    }
    if (this.isOver) return;
    // If ROLLBACK fails, `Database` closes the connection, which ends the transaction.
    this.isOver = await this.client.runGrouped('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  /** Waits for the pipelined statements, and returns their errors in the order of the statements. */
  private async pipelinedFailures(): Promise<unknown[]> {
    const outcomes = await Promise.allSettled(this.pipelined);
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  }
}
