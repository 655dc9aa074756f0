import { MessageKey } from '../../messages/message-status.repository';
import { LoadedConnection } from '../connections/connection-loader';

/** An outbound message under a lease. Only the lease's holder may send it. */
export interface ClaimedMessage extends MessageKey {
  connection: LoadedConnection;
  leaseId: string;
  /** Attempts before this one. */
  attemptCount: number;
  /** The customer's id at the provider; null when the contact has lost its identity. */
  recipientId: string | null;
  body: string;
  createdAt: Date;
  /** The time of the claim, by the database's clock. */
  claimedAt: Date;
  /** Until when the attempt may start, on this process's monotonic clock. */
  startBy: number;
}
