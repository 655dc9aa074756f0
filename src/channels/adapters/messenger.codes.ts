import { HOURLY_LIMIT, Verdict, Verdicts } from './graph-api';

const TERMINAL: Verdict = { kind: 'TERMINAL' };
const RETRY: Verdict = { kind: 'RETRY' };

/**
 * Messenger's codes (developers.facebook.com/docs/messenger-platform/error-codes), and what they mean here. One that
 * stands without a subcode counts for all of its subcodes that are not named.
 */
export const MESSENGER_VERDICTS: Verdicts = {
  '10/2018278': { kind: 'WINDOW' },

  // The token is no longer good.
  190: { kind: 'REAUTH' },

  // The limits of the app, of calls by one account, of the page, and of this very call.
  4: HOURLY_LIMIT,
  '4/2018022': HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  // Out of order, for the moment.
  2: RETRY,
  1200: RETRY,

  // The app may not, this person wants nothing from it, or another app has the conversation.
  10: TERMINAL,
  '10/2018065': TERMINAL,
  '10/2018108': TERMINAL,
  '10/1893063': TERMINAL,
  200: TERMINAL,
  230: TERMINAL,
  // The person can't be reached, or there is none of this id.
  551: TERMINAL,
  '551/1545041': TERMINAL,
  100: TERMINAL,
  '100/2018001': TERMINAL,
  // Blocked for what it did before.
  368: TERMINAL,
};
