import { FileKind } from '../common/file-limits';
import { DeliveryError, DeliveryStatus } from '../common/message-status';
import { RenditionKind } from './renditions/rendition-kinds';
import { ScanState } from './files/file.entity';

/**
 * States of an attachment. PENDING: its bytes are on their way. READY: they are stored. FAILED: they will not
 * come, unless an agent has them fetched again. LINK_ONLY: the provider's rules forbid to store them.
 */
export const ATTACHMENT_STATES = ['PENDING', 'READY', 'FAILED', 'LINK_ONLY'] as const;
export type AttachmentState = (typeof ATTACHMENT_STATES)[number];

/**
 * Reasons why the bytes of an attachment will not come. GONE: the provider has deleted them. TOO_BIG: they
 * exceed a limit of the provider or the service. FORBIDDEN: the provider or the service refuses them. REAUTH:
 * the channel needs new credentials. FULL: the workspace has used up its space. EXHAUSTED: the provider did
 * not deliver them in many tries. UNREADABLE: they were not the file that the provider had announced.
 */
export const ATTACHMENT_PROBLEMS = [
  'GONE',
  'TOO_BIG',
  'FORBIDDEN',
  'REAUTH',
  'FULL',
  'EXHAUSTED',
  'UNREADABLE',
] as const;
export type AttachmentProblem = (typeof ATTACHMENT_PROBLEMS)[number];

/** Attachment of a message. Until its bytes are stored, its facts are those that the sender claims. */
export interface AttachmentEntity {
  tenantId: string;
  id: string;
  conversationId: string;
  messageId: string;
  position: number;
  fileId: string | null;
  kind: FileKind;
  name: string | null;
  contentType: string | null;
  size: number | null;
  state: AttachmentState;
  problem: AttachmentProblem | null;
  caption: string | null;
  createdAt: Date;
  /** Facts of the stored file; null until there is one. */
  sha256: Buffer | null;
  width: number | null;
  height: number | null;
  durationMs: number | null;
  scan: ScanState | null;
  rendition: RenditionKind | null;
  /** Progress of the request that sends the file to a provider; null while there is none. */
  delivery: { status: DeliveryStatus; error: DeliveryError | null } | null;
}
