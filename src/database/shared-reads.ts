import { Transaction } from './transaction';

interface Read {
  sql: string;
  parameters: unknown[];
  resolve: (rows: Promise<unknown[]>) => void;
}

/**
 * Runs all reads of one tick of the event loop in one transaction and one packet. If one of them fails, each
 * read is repeated in its own transaction, so that only the faulty read fails.
 */
export class SharedReads {
  private waiting: Read[] = [];

  constructor(private readonly transaction: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>) {}

  read(sql: string, parameters: unknown[]): Promise<unknown[]> {
    if (this.waiting.length === 0) setImmediate(() => void this.runAll());
    return new Promise((resolve) => this.waiting.push({ sql, parameters, resolve }));
  }

  private async runAll(): Promise<void> {
    const reads = this.waiting;
    this.waiting = [];
    const alone = (read: Read) => this.transaction((tx) => readIn(tx, read));
    try {
      if (reads.length === 1) return reads[0]!.resolve(alone(reads[0]!));
      const answers = await this.transaction((tx) => Promise.all(reads.map((read) => readIn(tx, read))));
      for (const [n, { resolve }] of reads.entries()) resolve(Promise.resolve(answers[n]!));
    } catch {
      for (const read of reads) read.resolve(alone(read));
    }
  }
}

function readIn(tx: Transaction, { sql, parameters }: Read): Promise<unknown[]> {
  return tx.prepared(sql, parameters);
}
