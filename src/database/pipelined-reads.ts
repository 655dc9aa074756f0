import { DatabaseClient } from './database-client';

interface Answer {
  rows: unknown[];
}

/** A statement that waits for the turn's end. */
interface Statement {
  sql: string;
  parameters: unknown[];
  resolve: (answered: Promise<Answer>) => void;
  reject: (error: unknown) => void;
}

/** Statements that are asked in one turn of the event loop, and go over one connection, in one packet. */
export class PipelinedReads {
  private waiting: Statement[] = [];

  /** @param onConnection lends a connection for as long as something is done on it */
  constructor(
    private readonly onConnection: (work: (client: DatabaseClient) => Promise<void>) => Promise<void>,
  ) {}

  runPrepared(sql: string, parameters: unknown[]): Promise<Answer> {
    if (this.waiting.length === 0) setImmediate(() => void this.send());
    return new Promise((resolve, reject) => this.waiting.push({ sql, parameters, resolve, reject }));
  }

  private async send(): Promise<void> {
    const statements = this.waiting;
    this.waiting = [];
    try {
      await this.onConnection((client) => runAll(client, statements));
    } catch (error) {
      // Those that no connection was there for learn it here; the others have their own answers.
      for (const { reject } of statements) reject(error);
    }
  }
}

/** Ends once all are answered, and with a fault if one of them failed. */
async function runAll(client: DatabaseClient, statements: Statement[]): Promise<void> {
  const answers = statements.map(({ sql, parameters, resolve }) => {
    const answered = client.runPrepared(sql, parameters);
    resolve(answered);
    return answered;
  });
  await Promise.allSettled(answers);
  await Promise.all(answers);
}
