import { MessageKey } from '../../messages/message-status.repository';
import { LoadedConnection } from '../connections/connection.loader';

/** A later start could come after a disconnect was answered. */
const START_WITHIN_MS = 1_000;

/** An outbound message under a lease. Only the lease's holder may send it. */
export interface ClaimedMessage extends MessageKey {
  connection: LoadedConnection;
  leaseId: string;
  /** Without this one. */
  attemptCount: number;
  /** The customer's id at the provider; null when the contact has lost its identity. */
  recipientId: string | null;
  body: string;
  createdAt: Date;
  /** By the database's clock, just before the message is sent. */
  claimedAt: Date;
  /** On this process's monotonic clock. */
  startBy: number;
}

/** To be read before the claim is committed. */
export function startByFromNow(): number {
  return performance.now() + START_WITHIN_MS;
}
