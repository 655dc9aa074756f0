import type { Request } from 'express';
import { AppError } from '../../common/app-error';

/** Milliseconds in which a body must bring `MIN_BYTES`, or its end. */
const WINDOW_MS = 20_000;
const MIN_BYTES = 16 * 1024;
/** Longest time of a body in milliseconds. */
const MAX_MS = 30 * 60_000;

/** Watch over a body that may take as long as it makes progress. */
export interface WatchedProgress {
  /** Aborts, with an AppError as its reason, when the body stops, or its client disconnects. */
  signal: AbortSignal;
  stop(): void;
}

/** Watches a body that may take up to 30 minutes, if each 20 seconds bring 16 KiB. */
export function watchProgress(body: Request): WatchedProgress {
  const response = body.res!;
  const stop = new AbortController();
  let bytes = 0;
  const count = (chunk: Buffer) => void (bytes += chunk.length);
  const end = (error: AppError) => stop.abort(error);
  const late = () => end(new AppError('REQUEST_TIMEOUT', 'The body came too slowly.'));
  const gone = () => !body.readableEnded && end(new AppError('INVALID_BODY', 'The body is not complete.'));
  const window = setInterval(() => {
    if (bytes < MIN_BYTES && !body.readableEnded) late();
    bytes = 0;
  }, WINDOW_MS);
  const whole = setTimeout(late, MAX_MS);
  body.on('data', count);
  // An early error answer removes the listeners of the request, and leaves the listeners of the response.
  response.once('close', gone);
  return {
    signal: stop.signal,
    stop: () => {
      clearInterval(window);
      clearTimeout(whole);
      body.off('data', count);
      response.off('close', gone);
    },
  };
}
