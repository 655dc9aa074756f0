/** Progress of a message to the customer. */
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

/** Statuses that a provider can report after it accepted a message. */
export type ReceiptStatus = Extract<DeliveryStatus, 'SENT' | 'DELIVERED' | 'READ' | 'FAILED'>;

/**
 * Order in which a status advances, and never goes back: receipts come late, twice and in any order. FAILED
 * may follow SENT, because providers accept first and check later. It never follows DELIVERED.
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

/** Returns the statuses from which a message can advance to `status`. */
export function statusesBefore(status: DeliveryStatus): DeliveryStatus[] {
  return ADVANCE.slice(0, ADVANCE.indexOf(status));
}

/** Reason why a message is FAILED, UNKNOWN or retried: `delivery.error` of the API. */
export interface DeliveryError {
  code: DeliveryErrorCode;
  /** Error code of the channel's provider, as text; null if the provider gave none. */
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

/**
 * Returns an error with its code alone, for an erased message: the provider's words may name the customer.
 */
export function withoutDetails({ code }: Pick<DeliveryError, 'code'>): DeliveryError {
  return { code, providerCode: null, message: DELIVERY_ERROR_CODES[code] };
}

/** JSON object of all errors without details, by their codes: a parameter of statements that write them. */
export const ERRORS_BY_CODE = JSON.stringify(
  Object.fromEntries(
    (Object.keys(DELIVERY_ERROR_CODES) as DeliveryErrorCode[]).map((code) => [
      code,
      withoutDetails({ code }),
    ]),
  ),
);
