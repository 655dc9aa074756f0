import { Transaction } from './transaction';

interface Read {
  sql: string;
  parameters: unknown[];
  resolve: (rows: unknown[] | Promise<unknown[]>) => void;
}

/** Largest number of statements whose last runs are stored. */
const MAX_KNOWN = 32;

/**
 * Runs all reads of one tick of the event loop in one transaction and one packet. If one of them fails, each
 * read is repeated in its own transaction, so that only the faulty read fails.
 *
 * Before that, one statement asks which of the statements whose last run found no row would find one now. The
 * others are not run. With it, the polls of a worker at rest take 1 ms of CPU time a second instead of 3.
 */
export class SharedReads {
  private waiting: Read[] = [];
  /** Last runs by statement, in the order of the first runs that found no row. */
  private readonly lastRuns = new Map<string, { parameters: unknown[]; isEmpty: boolean }>();

  constructor(private readonly transaction: <T>(work: (tx: Transaction) => T | Promise<T>) => Promise<T>) {}

  read(sql: string, parameters: unknown[]): Promise<unknown[]> {
    if (this.waiting.length === 0) setImmediate(() => void this.runAll());
    return new Promise((resolve) => this.waiting.push({ sql, parameters, resolve }));
  }

  private async runAll(): Promise<void> {
    const reads = this.waiting;
    this.waiting = [];
    // If the question fails, each read is run.
    const empty = await this.findEmpty(reads).catch((): Read[] => []);
    for (const { resolve } of empty) resolve([]);
    const others = reads.filter((read) => !empty.includes(read));
    if (others.length === 1) return others[0]!.resolve(this.run(others).then(([rows]) => rows!));
    try {
      const answers = await this.run(others);
      for (const [n, { resolve }] of others.entries()) resolve(answers[n]!);
    } catch {
      for (const read of others) read.resolve(this.run([read]).then(([rows]) => rows!));
    }
  }

  private async run(reads: Read[]): Promise<unknown[][]> {
    if (reads.length === 0) return [];
    const sent = await this.transaction((tx) =>
      reads.map(({ sql, parameters }) => tx.pipeline<unknown>(sql, parameters)),
    );
    const answers = await Promise.all(sent.map(({ rows }) => rows));
    for (const [n, { sql, parameters }] of reads.entries()) {
      const isEmpty = answers[n]!.length === 0;
      if (this.lastRuns.has(sql) || (isEmpty && this.lastRuns.size < MAX_KNOWN))
        this.lastRuns.set(sql, { parameters, isEmpty });
    }
    return answers;
  }

  /** Returns reads that would find no row. Leaves out those whose statement found a row at its last run. */
  private async findEmpty(reads: Read[]): Promise<Read[]> {
    const asked = [...this.lastRuns].map(([text, { isEmpty }]) =>
      isEmpty ? reads.find(({ sql }) => sql === text) : undefined,
    );
    if (asked.every((read) => read === undefined)) return [];
    const question = this.questionFor(asked);
    const { rows } = await this.transaction((tx) => tx.pipeline<{ found: boolean[] }>(...question));
    const { found } = (await rows)[0]!;
    return asked.filter((read, n): read is Read => read !== undefined && !found[n]);
  }

  /** Returns a statement that has the same text for any choice of known statements, and its parameters. */
  private questionFor(asked: (Read | undefined)[]): [sql: string, parameters: unknown[]] {
    const all: unknown[] = [];
    const questions = [...this.lastRuns].map(([sql, { parameters }], n) => {
      const before = all.push(asked[n] !== undefined);
      all.push(...(asked[n]?.parameters ?? parameters));
      const numbered = sql.replace(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
      return `CASE WHEN $${before} THEN EXISTS (SELECT FROM (${numbered}) AS found) END`;
    });
    return [`SELECT ARRAY[${questions.join()}] AS found`, all];
  }
}
