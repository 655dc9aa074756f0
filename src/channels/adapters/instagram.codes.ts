import { HOURLY_LIMIT, Verdict, Verdicts } from './graph-api';

const TERMINAL: Verdict = { kind: 'TERMINAL' };
const RETRY: Verdict = { kind: 'RETRY' };

/**
 * Instagram's codes, and what they mean here. Of two, only the subcodes are known for certain: they are named bare, and
 * under the code that they have been seen with.
 */
export const INSTAGRAM_VERDICTS: Verdicts = {
  '10/2534022': { kind: 'WINDOW' },

  // The token is no longer good.
  190: { kind: 'REAUTH' },

  // The limits of the app, of calls by one account, of the page, and of this very call.
  4: HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  // Out of order, for the moment.
  2: RETRY,
  '2/1545133': RETRY,

  // The app may not; the person can't be reached, is not there, or has deleted the thread.
  10: TERMINAL,
  551: TERMINAL,
  100: TERMINAL,
  2534014: TERMINAL,
  '100/2534014': TERMINAL,
  2534001: TERMINAL,
  '100/2534001': TERMINAL,
};
