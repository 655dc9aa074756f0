import { QueryFailedError } from 'typeorm';
import { DatabaseUnavailable, followsFromAnother } from './driver/database-errors';
import { DatabaseClient } from './driver/database-client';
import { WriteStatement } from './placement/placement';
import { Transaction } from './transaction';

/** An open transaction with the methods that only `Database` calls. */
export class OpenTransaction extends Transaction {
  private end!: (how: 'committed' | 'rolled back') => void;
  readonly ended = new Promise<'committed' | 'rolled back'>((resolve) => (this.end = resolve));
  private readonly begun: Promise<unknown>;
  /** Whether the server has ended the transaction, so that its connection can be used again. */
  isOver = false;

  /** Begins a transaction: BEGIN is sent with the first statements of the work. */
  constructor(client: DatabaseClient, write: WriteStatement) {
    super(client, write);
    this.begun = client.runGrouped('BEGIN');
    this.begun.catch(() => undefined);
  }

  /**
   * Runs the work and commits it, or rolls it back.
   * @throws DatabaseUnavailable when the transaction can't begin; otherwise the first error that does not
   *   follow from another
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
    // PostgreSQL answers COMMIT with a rollback after a failed statement, and reports no error for it.
    failures.unshift(...(await this.pipelinedFailures()));
    if (failures.length === 0) return value!;
    this.end('rolled back');
    await this.rollBack();
    throw failures.find((error) => !followsFromAnother(error)) ?? failures[0];
  }

  /** Runs the callbacks, before anything that awaits `ended`. */
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
    // A connection that does not roll back is closed, and its transaction with it.
    this.isOver = await this.client.runGrouped('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  /** Waits for the pipelined statements, and returns their errors in the order in which they were sent. */
  private async pipelinedFailures(): Promise<unknown[]> {
    const outcomes = await Promise.allSettled(this.pipelined);
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  }
}
