/** Statuses of an agent's message on its way to the customer. */
export const DELIVERY_STATUSES = [
  'QUEUED',
  'SENDING',
  'SENT',
  'DELIVERED',
  'READ',
  'FAILED',
  'UNKNOWN',
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Statuses that a provider can report for a message that it has accepted. */
export type ReceiptStatus = Extract<DeliveryStatus, 'SENT' | 'DELIVERED' | 'READ' | 'FAILED'>;

/**
 * Statuses in the order in which a message advances. A receipt never moves a message back, because receipts
 * arrive late, twice and in any order. FAILED may follow SENT, because providers accept a message first and
 * check it later. FAILED never follows DELIVERED.
 */
const ADVANCE: readonly DeliveryStatus[] = [
  'QUEUED',
  'SENDING',
  'UNKNOWN',
  'SENT',
  'FAILED',
  'DELIVERED',
  'READ',
];

export function statusesBefore(status: DeliveryStatus): DeliveryStatus[] {
  return ADVANCE.slice(0, ADVANCE.indexOf(status));
}

/** Reason why a message is FAILED, UNKNOWN or retried. The API shows it as `delivery.error`. */
export interface DeliveryError {
  code: DeliveryErrorCode;
  /** Error code of the channel's provider; null if the provider sent none. */
  providerCode: string | null;
  message: string;
}

export const DELIVERY_ERROR_CODES = {
  NO_CONNECTION: 'The workspace has no connection for this channel.',
  NO_RECIPIENT: 'The contact has no identity on this channel.',
  REAUTH_REQUIRED: "The connection's credentials no longer work: they must be rotated.",
  WINDOW_CLOSED: 'The provider lets only the customer write first now.',
  REFUSED: 'The provider refused the message for good.',
  RETRYING: 'The last attempt failed; the message is tried again.',
  RETRIES_EXHAUSTED: 'The provider could not take the message, however often it was tried.',
  GIVEN_UP: 'The message could not be taken in for sending, and an operator has given it up.',
  ERASED: 'The message was erased before it was sent.',
  OUTCOME_UNKNOWN: 'The request was sent, and its outcome is not known. It is not sent again.',
} as const;
export type DeliveryErrorCode = keyof typeof DELIVERY_ERROR_CODES;

/** Returns an error without the provider's code and text, because the text may name an erased customer. */
export function withoutDetails({ code }: Pick<DeliveryError, 'code'>): DeliveryError {
  return { code, providerCode: null, message: DELIVERY_ERROR_CODES[code] };
}

/** JSON object from each error code to its error without details, as a parameter of SQL statements. */
export const ERRORS_BY_CODE = JSON.stringify(
  Object.fromEntries(
    (Object.keys(DELIVERY_ERROR_CODES) as DeliveryErrorCode[]).map((code) => [
      code,
      withoutDetails({ code }),
    ]),
  ),
);
