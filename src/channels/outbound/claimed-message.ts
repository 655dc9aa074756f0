import { MessageKey } from '../../messages/message-status.repository';
import { StartBy } from '../../queue/start-capacity';
import { LoadedConnection } from '../connections/connection-loader';

/** Queue of the outbound messages that are due, by connection. */
export const OUTBOUND_MESSAGE_QUEUE = 'channel-connections';

/** Outbound message under a lease. Only the process that holds the lease may send it. */
export interface ClaimedMessage extends MessageKey {
  connection: LoadedConnection;
  leaseId: string;
  attemptCount: number;
  /** Provider's id of the customer; null if the contact has no id on the channel any more. */
  recipientId: string | null;
  body: string;
  attachmentCount: number;
  /** Whether the body only describes the attachments, so that it is not sent. */
  isDescribed: boolean;
  /** Id of the lost message that this one repeats; null if it repeats none. */
  repeatsId: string | null;
  createdAt: Date;
  /** Time of the claim (database clock). */
  claimedAt: Date;
  startBy: StartBy;
}
