import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from 'conversation-messaging-service';
import { WorkBudgets } from 'conversation-messaging-service/http';
import type { Response } from 'express';

/** Number of lines that are read with one slot. */
const STEP = 1_000;
/** Characters of one write. At the end of each, a connection notices that its client reads. */
const WRITE_CHARACTERS = 32_768;

/** Sends files to save, whose lines are read as they are sent. */
@Injectable()
export class Downloads {
  /** Longest time of a download in milliseconds, however slowly its person reads. */
  maxMs = 10 * 60_000;

  constructor(private readonly budgets: WorkBudgets) {}

  /**
   * Sends lines of text as a file. The first step is read before the answer begins, so that a wrong request
   * gets an error. A fault in the middle cuts the connection, because a file that ends early must not look
   * complete. A download has a slot for exports, and one for requests only while a step is read.
   * @throws AppError RATE_LIMITED, UNAVAILABLE: too many downloads at once, or one that takes too long
   */
  send(
    workspaceId: string,
    lines: AsyncGenerator<string, void>,
    file: { name: string; type: string },
    response: Response,
  ): Promise<void> {
    const steps = this.readSteps(workspaceId, lines);
    return this.budgets.waitOutside('exports', workspaceId, () =>
      sendFile(steps, file, response, this.maxMs),
    );
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

/** Joins lines to texts of a size to write. */
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
  text: AsyncGenerator<string, void>,
  { name, type }: { name: string; type: string },
  response: Response,
  maxMs: number,
): Promise<void> {
  const first = await text.next();
  response.attachment(name).type(type);
  const signal = AbortSignal.timeout(maxMs);
  try {
    await pipeline(Readable.from(withFirst(first, text)), response, { signal });
  } catch (error) {
    if (signal.aborted) throw new AppError('UNAVAILABLE', `A download took over ${maxMs / 1_000} seconds.`);
    // The person has cancelled the download, or does not read it.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

async function* withFirst(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
