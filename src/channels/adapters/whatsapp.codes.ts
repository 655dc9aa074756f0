import { HOURLY_LIMIT, Verdict, Verdicts } from './graph-api';
import { WINDOW_CODE } from './whatsapp.notification';

const REAUTH: Verdict = { kind: 'REAUTH' };
const TERMINAL: Verdict = { kind: 'TERMINAL' };
const RETRY: Verdict = { kind: 'RETRY' };
const RETRY_ALL: Verdict = { kind: 'RETRY', concerns: 'connection' };

/**
 * Too many messages to one customer: one in 6 s, of which 45 can be had in advance. Meta asks for waits of 4^n s: this
 * is the third one, and the waits between our attempts grow by themselves.
 */
const PAIR_LIMIT: Verdict = { kind: 'RETRY', afterMs: 16_000 };

/** Too many customers have blocked or reported the number: going on makes it worse. */
const SPAM_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

/** Of 200 to 299, each is a permission that is missing. */
const PERMISSIONS: Verdicts = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [String(200 + index), TERMINAL]),
);

/** WhatsApp's codes (developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes), and what they mean here. */
export const WHATSAPP_VERDICTS: Verdicts = {
  ...PERMISSIONS,
  [WINDOW_CODE]: { kind: 'WINDOW' },

  // The token is no longer good.
  0: REAUTH,
  190: REAUTH,

  // The app's, the account's and the number's limits: an hour's, an hour's, and a second's.
  4: HOURLY_LIMIT,
  80007: HOURLY_LIMIT,
  130429: RETRY_ALL,
  131048: SPAM_LIMIT,
  131056: PAIR_LIMIT,
  // Out of order, for the moment.
  2: RETRY,
  131000: RETRY,
  131016: RETRY,

  // The request, the app's permission, the account under an integrity measure.
  10: TERMINAL,
  33: TERMINAL,
  100: TERMINAL,
  368: TERMINAL,
  // The customer: can't get it, is spared it, wants none, or is not on a test number's list. The account: locked.
  131026: TERMINAL,
  131049: TERMINAL,
  131050: TERMINAL,
  131030: TERMINAL,
  131031: TERMINAL,
};
