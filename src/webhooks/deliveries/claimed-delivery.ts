import { SealedSecret } from '../../common/secret-box';

/** A delivery whose turn it is, with all that its attempt needs. Only its lease's holder may make the attempt. */
export interface ClaimedDelivery {
  tenantId: string;
  id: string;
  endpointId: string;
  leaseId: string;
  /** Attempts made before this one. */
  attemptCount: number;
  maxAttempts: number;
  eventType: string;
  eventCreatedAt: Date;
  /** JSON text, as the event was appended. */
  data: string;
  /** The event's place among those of its conversation, if it is of one. */
  sequence: string | null;
  url: string;
  secret: SealedSecret;
  /** Deliveries a second that the endpoint takes, over all workers; null for any number. */
  rateLimit: number | null;
  /** The endpoint's health as it was at the claim. */
  failingSince: Date | null;
  lastSuccessAt: Date | null;
}
