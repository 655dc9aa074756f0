import { HOURLY_LIMIT } from './graph-api';
import { Verdict, Verdicts } from '../support/verdict';

const TERMINAL: Verdict = { kind: 'TERMINAL' };
const RETRY: Verdict = { kind: 'RETRY' };

/**
 * Instagram's error codes. Of 2534014 and 2534001 only the subcode is certain, so each stands alone and under the code
 * it was observed with.
 */
export const INSTAGRAM_VERDICTS: Verdicts = {
  '10/2534022': { kind: 'WINDOW' },

  // The token is invalid.
  190: { kind: 'REAUTH' },

  // The limits of the app, the account, the page, and this call.
  4: HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  // Temporary failures.
  2: RETRY,
  '2/1545133': RETRY,

  // The app has no permission; the person can't be reached, does not exist, or deleted the thread.
  10: TERMINAL,
  551: TERMINAL,
  100: TERMINAL,
  2534014: TERMINAL,
  '100/2534014': TERMINAL,
  2534001: TERMINAL,
  '100/2534001': TERMINAL,
};
