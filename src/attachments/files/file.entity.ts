import { type FileKind } from '../../common/file-limits';

/**
 * Result of a scan for malware. Nothing scans files yet. A scanner would take files from UNSCANNED to CLEAN
 * or INFECTED, and `AttachmentContents` is the place that would hold an infected file back.
 */
export const SCAN_STATES = ['UNSCANNED', 'CLEAN', 'INFECTED'] as const;
export type ScanState = (typeof SCAN_STATES)[number];

/** Facts of a file that its bytes tell. */
export interface FileFacts {
  size: number;
  sha256: Buffer;
  kind: FileKind;
  contentType: string;
  /** Size of a picture in pixels, as it is shown; null for other files, and if it is not known. */
  width: number | null;
  height: number | null;
}

/**
 * File of a workspace. Its row is committed before its bytes are stored, so that there are no bytes without a
 * row. The facts are null until the bytes are stored.
 */
export interface FileEntity {
  tenantId: string;
  id: string;
  /** Conversation for which an upload is; null for a file that the service has fetched. */
  conversationId: string | null;
  /** Id of the agent, key or contact that made the upload; null for a file that the service has fetched. */
  uploader: string | null;
  name: string;
  declaredType: string | null;
  declaredSha256: Buffer | null;
  /** Number of bytes: declared until the bytes are stored, and then counted. */
  size: number;
  kind: FileKind | null;
  contentType: string | null;
  sha256: Buffer | null;
  width: number | null;
  height: number | null;
  durationMs: number | null;
  scan: ScanState;
  storedAt: Date | null;
  /** Time at which the file is deleted; null while an attachment refers to it. Once due, it stays due. */
  deleteAt: Date | null;
  createdAt: Date;
}
