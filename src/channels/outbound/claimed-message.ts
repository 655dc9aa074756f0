import { LoadedConnection } from '../connections/connection.loader';

export interface MessageKey {
  tenantId: string;
  conversationId: string;
  messageId: string;
}

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
}
