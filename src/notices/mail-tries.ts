import { MailOutcome } from '../mails/mailer';

/** Milliseconds before each further try of a mail that a server does not take now. Then it is given up. */
const PAUSES_MS = [60_000, 5 * 60_000, 15 * 60_000, 3_600_000, 3 * 3_600_000, 8 * 3_600_000];

/**
 * Returns when a notice that was not taken is tried again; null for never.
 * @param tries number of tries up to now
 */
export function nextTryAfter(outcome: MailOutcome, tries: number): Date | null {
  const pauseMs = outcome === 'failed' ? PAUSES_MS[tries - 1] : undefined;
  return pauseMs === undefined ? null : new Date(Date.now() + pauseMs);
}
