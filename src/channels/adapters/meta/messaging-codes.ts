import { REAUTH, RETRY, TERMINAL, UNKNOWN, Verdicts, WINDOW } from '../channel-adapter';
import { HOURLY_LIMIT } from './graph-api';

/** Verdicts for Messenger and Instagram. A code alone applies to every subcode that has no own entry. */
const SHARED: Verdicts = {
  // The token is invalid.
  190: REAUTH,

  // Rate limits: of the app, of the account, of the page, and of this call.
  4: HOURLY_LIMIT,
  17: HOURLY_LIMIT,
  32: HOURLY_LIMIT,
  613: HOURLY_LIMIT,
  2: RETRY,

  // The app has no permission, or another app owns the conversation.
  10: TERMINAL,
  // The person can't be reached, or does not exist.
  551: TERMINAL,
  100: TERMINAL,

  // Meta could not fetch the file, or took too long to read it.
  '100/2018008': RETRY,
  '100/2018294': RETRY,
  // A part of the message may have arrived.
  '1/1357046': UNKNOWN,
};

/** Verdicts on Messenger's error codes (developers.facebook.com/docs/messenger-platform/error-codes). */
export const MESSENGER_VERDICTS: Verdicts = {
  ...SHARED,
  '10/2018278': WINDOW,
  1200: RETRY,

  // The app has no permission, or the person opted out.
  200: TERMINAL,
  230: TERMINAL,
  // The page or app is blocked for policy violations.
  368: TERMINAL,
};

/** Verdicts on Instagram's error codes. Meta sends 2534014 and 2534001 as codes or as subcodes of 100. */
export const INSTAGRAM_VERDICTS: Verdicts = {
  ...SHARED,
  '10/2534022': WINDOW,
  '10/2534077': REAUTH,
  '200/2534041': REAUTH,

  // The person can't be reached, does not exist, or deleted the thread.
  2534014: TERMINAL,
  2534001: TERMINAL,
};
