import { SealedSecret } from '../../common/secret-box';

/** A delivery under a lease, with everything that its attempt needs. Only the lease's holder may attempt it. */
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
  /** JSON text. */
  data: string;
  /** The event's position in its conversation; null for an event of no conversation. */
  sequence: string | null;
  url: string;
  secret: SealedSecret;
  /** Deliveries a second, over all workers; null for no limit. */
  rateLimit: number | null;
  /** The endpoint's health at the claim. */
  failingSince: Date | null;
  lastSuccessAt: Date | null;
}
