import { SealedSecret } from '../common/secret-box';

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
  /** JSON text, as the event was appended. */
  data: string;
  url: string;
  secret: SealedSecret;
}
