import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { DatabaseUnavailable, followsFromAnother } from './driver/database-errors';
import { DatabaseClient } from './driver/database-client';
import { WriteStatement } from './placement/placement';
import { Transaction } from './transaction';

/** Runs the work of one transaction, and commits it or rolls it back. Only `Database` uses this class. */
export class OpenTransaction extends Transaction {
  private begun: Promise<unknown>;
  /** Whether the server has ended the transaction, so that its connection can be used again. */
  isOver = false;

  /**
   * Begins a transaction. BEGIN is sent together with the first statements of the work.
   * @param needsBegin whether a transaction whose statements are all sent together needs BEGIN and COMMIT
   */
  constructor(
    client: DatabaseClient,
    write: WriteStatement,
    private readonly needsBegin: boolean,
  ) {
    super(client, write);
    this.begun = client.runGrouped('BEGIN');
    this.begun.catch(() => undefined);
  }

  /**
   * Runs `work` and commits the transaction, or rolls it back if a statement or `work` fails.
   * @throws DatabaseUnavailable when the transaction can't begin; otherwise the first error that is not just
   *   a consequence of another statement's failure
   */
  runWork<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    return this.finish(async () => {
      const value = await work(this);
      await this.commit();
      return value;
    });
  }

  /** Runs `work` as `runWork` does, but commits together with the statements that `work` sends first. */
  runPacket<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.finish(async () => {
      const value = work(this);
      value.catch(() => undefined);
      await this.commit();
      return value;
    });
  }

  private async finish<T>(run: () => Promise<T>): Promise<T> {
    let value: T;
    const failures: unknown[] = [];
    try {
      value = await run();
    } catch (error) {
      failures.push(error);
    }
    // Pipelined errors come first, because a COMMIT after a failed statement does not say why it rolled back.
    failures.unshift(...(await this.pipelinedFailures()));
    if (failures.length === 0) return value!;
    await this.rollBack();
    throw failures.find((error) => !followsFromAnother(error)) ?? failures[0];
  }

  /** Runs the callbacks of `onCommit`. */
  committed(): void {
    for (const callback of this.callbacks) callback();
  }

  private async commit(): Promise<void> {
    const committed = this.needsBegin ? null : this.client.commitUnsent();
    if (committed) {
      this.begun = Promise.resolve();
      return this.awaitPacket(committed);
    }
    const { command } = await this.client.runGrouped('COMMIT');
    this.isOver = true;
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back: one of its statements failed');
  }

  private async awaitPacket(committed: Promise<void>): Promise<void> {
    try {
      await committed;
      this.isOver = true;
    } catch (error) {
      // After an error of the server, the Sync message at the packet's end has rolled the transaction back.
      this.isOver = error instanceof DatabaseError && error.severity === 'ERROR';
      throw new QueryFailedError('COMMIT', [], error as Error);
    }
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
