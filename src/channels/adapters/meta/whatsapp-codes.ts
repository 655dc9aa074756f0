import { REAUTH, RETRY, TERMINAL, Verdict, Verdicts, WINDOW } from '../channel-adapter';
import { HOURLY_LIMIT } from './graph-api';
import { WINDOW_CODE } from './whatsapp-notification';

const RETRY_ALL: Verdict = { kind: 'RETRY', concerns: 'connection' };

/**
 * Verdict on too many messages to one customer: Meta accepts one message per 6 s and bursts of 45. It asks to
 * wait 4^n s before retry n. The first wait here is 16 s (n = 2), and the backoff grows from it.
 */
const PAIR_LIMIT: Verdict = { kind: 'RETRY', afterMs: 16_000 };

/**
 * Verdict on a phone number that too many customers have blocked or reported. All messages of the connection
 * wait, because further messages would make the restriction worse.
 */
const SPAM_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

/** Verdicts on the error codes 200 to 299, which report missing permissions. */
const PERMISSIONS: Verdicts = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [String(200 + index), TERMINAL]),
);

/**
 * Verdicts on WhatsApp's error codes (developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes).
 */
export const WHATSAPP_VERDICTS: Verdicts = {
  ...PERMISSIONS,
  [WINDOW_CODE]: WINDOW,

  // The token is invalid.
  0: REAUTH,
  190: REAUTH,

  // Rate limits: of the app and of the account (per hour), of the number (per second), after reports of spam,
  // and for one customer.
  4: HOURLY_LIMIT,
  80007: HOURLY_LIMIT,
  130429: RETRY_ALL,
  131048: SPAM_LIMIT,
  131056: PAIR_LIMIT,
  // Temporary failures.
  2: RETRY,
  131000: RETRY,
  131016: RETRY,

  // A bad request, a missing permission, a restricted account.
  10: TERMINAL,
  33: TERMINAL,
  100: TERMINAL,
  368: TERMINAL,
  // The customer cannot receive messages, is protected from marketing, has opted out, or is not on the list
  // of a test number.
  131026: TERMINAL,
  131049: TERMINAL,
  131050: TERMINAL,
  131030: TERMINAL,
  // The account is locked.
  131031: TERMINAL,
};
