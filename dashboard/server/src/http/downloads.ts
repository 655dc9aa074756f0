import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from 'conversation-messaging-service';
import { WorkBudgets } from 'conversation-messaging-service/http';
import type { Response } from 'express';

/**
 * Number of lines that a download reads at a time. While it reads them, it occupies one of the slots for
 * requests; while it sends them, it does not.
 */
const STEP = 1_000;
/** Characters of one write: few, because a connection is closed if no write ends for some time. */
const WRITE_CHARACTERS = 32_768;

/** Name and media type of a file to save. */
interface DownloadedFile {
  name: string;
  type: string;
}

/** Sends lines or bytes as a file to save, and reads them while it sends. */
@Injectable()
export class Downloads {
  /** Maximum durations of a download in milliseconds, even if the client reads slowly. */
  readonly maxMs = { lines: 10 * 60_000, bytes: 30 * 60_000 };

  constructor(private readonly budgets: WorkBudgets) {}

  /**
   * Sends lines of text as a file. Reads the first 1,000 lines before the response begins, so that a wrong
   * request is answered with an error. Cuts the connection if a later line can't be read, because a truncated
   * file must not look complete. Occupies a slot for exports, and while it reads lines also a slot for
   * requests.
   * @throws AppError RATE_LIMITED (the workspace runs too many downloads), UNAVAILABLE (the process runs too
   *   many, or this one takes longer than `maxMs`)
   */
  sendLines(
    workspaceId: string,
    lines: AsyncGenerator<string, void>,
    file: DownloadedFile,
    response: Response,
  ): Promise<void> {
    return this.send(workspaceId, this.readSteps(workspaceId, lines), file, response, this.maxMs.lines);
  }

  /**
   * Sends bytes as a file, as `sendLines` does, with the first bytes instead of the first lines. Whoever
   * yields the bytes must take a slot for requests while it uses the database.
   * @throws AppError as `sendLines`
   */
  sendBytes(
    workspaceId: string,
    bytes: AsyncGenerator<Buffer, void>,
    file: DownloadedFile,
    response: Response,
  ): Promise<void> {
    return this.send(workspaceId, bytes, file, response, this.maxMs.bytes);
  }

  private send(
    workspaceId: string,
    content: AsyncGenerator<string | Buffer, void>,
    file: DownloadedFile,
    response: Response,
    maxMs: number,
  ): Promise<void> {
    return this.budgets.waitOutside('exports', workspaceId, () => sendFile(content, file, response, maxMs));
  }

  private async *readSteps(
    workspaceId: string,
    lines: AsyncGenerator<string, void>,
  ): AsyncGenerator<string, void> {
    for (let isDone = false; !isDone;) {
      const step: string[] = [];
      const release = await this.budgets.acquire('requests', workspaceId);
      try {
        while (!isDone && step.length < STEP) {
          const line = await lines.next();
          if (line.done) isDone = true;
          else step.push(line.value);
        }
      } finally {
        release();
      }
      yield* inWrites(step);
    }
  }
}

function* inWrites(lines: string[]): Generator<string, void> {
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < WRITE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

async function sendFile(
  content: AsyncGenerator<string | Buffer, void>,
  { name, type }: DownloadedFile,
  response: Response,
  maxMs: number,
): Promise<void> {
  const first = await content.next();
  response.attachment(name).type(type);
  const signal = AbortSignal.timeout(maxMs);
  try {
    await pipeline(Readable.from(withFirst(first, content)), response, { signal });
  } catch (error) {
    if (signal.aborted) throw new AppError('UNAVAILABLE', `A download took over ${maxMs / 1_000} seconds.`);
    // This code means that the client has cancelled the download, or that the connection broke.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

async function* withFirst<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
