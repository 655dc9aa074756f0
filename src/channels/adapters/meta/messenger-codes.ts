import { HOURLY_LIMIT } from './graph-api';
import { Verdict, Verdicts } from '../support/verdict';

const TERMINAL: Verdict = { kind: 'TERMINAL' };
const RETRY: Verdict = { kind: 'RETRY' };

/**
 * Messenger's error codes (developers.facebook.com/docs/messenger-platform/error-codes). A bare code covers all its
 * unlisted subcodes.
 */
export const MESSENGER_VERDICTS: Verdicts = {
  '10/2018278': { kind: 'WINDOW' },

  // The token is invalid.
  190: { kind: 'REAUTH' },

  // The limits of the app, the account, the page, and this call.
  4: HOURLY_LIMIT,
  '4/2018022': HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  // Temporary failures.
  2: RETRY,
  1200: RETRY,

  // The app has no permission, the person opted out, or another app owns the conversation.
  10: TERMINAL,
  '10/2018065': TERMINAL,
  '10/2018108': TERMINAL,
  '10/1893063': TERMINAL,
  200: TERMINAL,
  230: TERMINAL,
  // The person can't be reached, or does not exist.
  551: TERMINAL,
  '551/1545041': TERMINAL,
  100: TERMINAL,
  '100/2018001': TERMINAL,
  // Blocked for policy violations.
  368: TERMINAL,
};
