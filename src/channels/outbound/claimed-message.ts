import { MessageKey } from '../../messages/message-status.repository';
import { StartBy } from '../../queue/start-capacity';
import { LoadedConnection } from '../connections/connection-loader';

/** Outbound message under a lease. Only the lease's holder may send it. */
export interface ClaimedMessage extends MessageKey {
  connection: LoadedConnection;
  leaseId: string;
  attemptCount: number;
  /** Id of the customer at the provider; null when the contact has lost its identity. */
  recipientId: string | null;
  body: string;
  createdAt: Date;
  /** Time of the claim, by the database's clock. */
  claimedAt: Date;
  startBy: StartBy;
}
