import { REAUTH, RETRY, TERMINAL, Verdicts, WINDOW } from '../channel-adapter';
import { HOURLY_LIMIT } from './graph-api';

/**
 * Verdicts on the error codes that Messenger and Instagram share. A code without a subcode covers all
 * subcodes not listed.
 */
const SHARED: Verdicts = {
  // The token is invalid.
  190: REAUTH,

  // The limits of the app, the account, the page, and this call.
  4: HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  // A temporary failure.
  2: RETRY,

  // The app has no permission.
  10: TERMINAL,
  // The person can't be reached, or does not exist.
  551: TERMINAL,
  100: TERMINAL,
};

/** Verdicts on Messenger's error codes (developers.facebook.com/docs/messenger-platform/error-codes). */
export const MESSENGER_VERDICTS: Verdicts = {
  ...SHARED,
  '10/2018278': WINDOW,
  '4/2018022': HOURLY_LIMIT,
  // A temporary failure.
  1200: RETRY,

  // The app has no permission, the person opted out, or another app owns the conversation.
  '10/2018065': TERMINAL,
  '10/2018108': TERMINAL,
  '10/1893063': TERMINAL,
  200: TERMINAL,
  230: TERMINAL,
  // The person can't be reached, or does not exist.
  '551/1545041': TERMINAL,
  '100/2018001': TERMINAL,
  // Blocked for policy violations.
  368: TERMINAL,
};

/**
 * Verdicts on Instagram's error codes. For 2534014 and 2534001 only the subcode is certain, so each is listed
 * alone and with the code that it was observed with.
 */
export const INSTAGRAM_VERDICTS: Verdicts = {
  ...SHARED,
  '10/2534022': WINDOW,
  // A temporary failure.
  '2/1545133': RETRY,

  // The person can't be reached, does not exist, or deleted the thread.
  2534014: TERMINAL,
  '100/2534014': TERMINAL,
  2534001: TERMINAL,
  '100/2534001': TERMINAL,
};
