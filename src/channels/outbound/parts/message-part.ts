import { DeliveryError, DeliveryStatus } from '../../../common/message-status';
import { MessageKey } from '../../../messages/message-status.repository';

/** Content of a part: the message's text, a file's caption, or a file with one of them or with neither. */
export type PartContent = 'BODY' | 'CAPTION' | 'FILE' | 'FILE_WITH_BODY' | 'FILE_WITH_CAPTION';

/** Part of a message with files: one request to the provider, with its outcome. */
export interface MessagePart extends MessageKey {
  /** Service's own id of the part. Some providers repeat it in their events. */
  id: string;
  position: number;
  content: PartContent;
  /** Attachment of a file or caption; null for the message's text. */
  attachmentId: string | null;
  fileId: string | null;
  /** QUEUED until its request begins, and again before a retry. */
  status: DeliveryStatus;
  attemptCount: number;
  providerId: string | null;
  error: DeliveryError | null;
  createdAt: Date;
}

export type PlannedPart = Pick<MessagePart, 'content' | 'attachmentId' | 'fileId'>;

/** Status of a message whose parts have all ended. */
export interface PartsSum {
  status: DeliveryStatus;
  error: DeliveryError | null;
}

const LEAST_FIRST = ['SENT', 'DELIVERED', 'READ'] as const;

/** Reports whether a part is still to be sent, or is being sent. */
export function isOpen({ status }: Pick<MessagePart, 'status'>): boolean {
  return status === 'QUEUED' || status === 'SENDING';
}

/**
 * Sums the parts of a message: FAILED if one failed, UNKNOWN if one is unknown and none failed, else the
 * least advanced status. Null while a part is open, and if there are no parts.
 */
export function sumOfParts(parts: Pick<MessagePart, 'status' | 'error'>[]): PartsSum | null {
  if (parts.length === 0 || parts.some(isOpen)) return null;
  const lost = ['FAILED', 'UNKNOWN'].map((status) => parts.find((part) => part.status === status));
  const first = lost.find((part) => part !== undefined);
  if (first) return { status: first.status, error: first.error };
  return {
    status: LEAST_FIRST.find((status) => parts.some((part) => part.status === status))!,
    error: null,
  };
}
