import { LoadedConnection } from '../connections/connection.loader';

/** One message of one conversation. */
export interface MessageKey {
  tenantId: string;
  conversationId: string;
  messageId: string;
}

/** A reply whose turn it is, with all that its attempt needs. Only its lease's holder may make the attempt. */
export interface ClaimedMessage extends MessageKey {
  connection: LoadedConnection;
  leaseId: string;
  /** Attempts made before this one. */
  attemptCount: number;
  /** The customer, as the provider knows them; null when the contact has lost its identity meanwhile. */
  recipientId: string | null;
  body: string;
  createdAt: Date;
  /** By the database's clock: the message leaves at this moment or just after it. */
  claimedAt: Date;
}
