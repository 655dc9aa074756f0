/** How far a message is on its way to the customer. */
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

/** What a provider can tell of a message afterwards. */
export type ReceiptStatus = Extract<DeliveryStatus, 'SENT' | 'DELIVERED' | 'READ' | 'FAILED'>;

/**
 * A status only ever advances, in this order: receipts come late, twice and in any order. A refusal may follow SENT,
 * because providers accept first and look later; but a message that has been seen delivered did not fail.
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

/** The statuses that a message may have to advance to this one. */
export function statusesBefore(status: DeliveryStatus): DeliveryStatus[] {
  return ADVANCE.slice(0, ADVANCE.indexOf(status));
}

/** Why a message was not delivered, is not known to be, or has to be tried again: `delivery.error` of the API. */
export interface DeliveryError {
  code: DeliveryErrorCode;
  /** The channel provider's own code, as text; null where it gave none. */
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
  OUTCOME_UNKNOWN: 'The request was sent, and its outcome is not known. It is not sent again.',
  PREDATES_CHANNELS: 'It was written before this service could send over channels.',
} as const;
export type DeliveryErrorCode = keyof typeof DELIVERY_ERROR_CODES;
