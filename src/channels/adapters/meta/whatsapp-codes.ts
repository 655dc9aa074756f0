import { REAUTH, RETRY, TERMINAL, Verdict, Verdicts, WINDOW } from '../channel-adapter';
import { HOURLY_LIMIT } from './graph-api';
import { WINDOW_CODE } from './whatsapp-notification';

const RETRY_ALL: Verdict = { kind: 'RETRY', concerns: 'connection' };

/**
 * Verdict on too many messages to one customer. Meta accepts one per 6 s, in bursts of 45. It asks senders to
 * wait 4^n s before retry n; the service waits 4^2 s before the first.
 */
const PAIR_LIMIT: Verdict = { kind: 'RETRY', afterMs: 16_000 };

/** Verdict on a number that many customers have blocked or reported. More messages would make this worse. */
const SPAM_LIMIT: Verdict = { kind: 'RETRY', afterMs: 5 * 60_000, concerns: 'connection' };

/** Verdicts on the codes 200 to 299, which report missing permissions. */
const PERMISSIONS: Verdicts = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [String(200 + index), TERMINAL]),
);

/** Verdicts by WhatsApp's code (developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes). */
export const WHATSAPP_VERDICTS: Verdicts = {
  ...PERMISSIONS,
  [WINDOW_CODE]: WINDOW,

  // The token is invalid.
  0: REAUTH,
  190: REAUTH,

  // Limits of the app and the account (per hour) and of the number (per second).
  4: HOURLY_LIMIT,
  80007: HOURLY_LIMIT,
  130429: RETRY_ALL,
  131048: SPAM_LIMIT,
  131056: PAIR_LIMIT,
  2: RETRY,
  131000: RETRY,
  131016: RETRY,

  // A bad request, a missing permission, a restricted account.
  10: TERMINAL,
  33: TERMINAL,
  100: TERMINAL,
  368: TERMINAL,
  // The customer can't receive the message, had enough marketing, opted out, or is no test recipient.
  131026: TERMINAL,
  131049: TERMINAL,
  131050: TERMINAL,
  131030: TERMINAL,
  // The account is locked.
  131031: TERMINAL,
};
