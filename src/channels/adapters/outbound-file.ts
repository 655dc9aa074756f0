import { Readable } from 'node:stream';
import { FileForm } from '../../common/file-limits';

/** File for a customer, in a form that the channel takes. */
export interface OutboundFile {
  /** Service's id of the file's part of the message. Some providers repeat it in their events. */
  messageId: string;
  conversationId: string;
  /** Provider's id of the customer. */
  recipientId: string;
  form: FileForm;
  name: string;
  contentType: string;
  size: number;
  caption: string | null;
}

/** Means with which an adapter sends one file. */
export interface FileSending {
  /** Provider's reference of the file from an earlier upload, if it still lives. */
  known: string | null;
  /** Remembers the provider's reference of the file, for as long as it lives. */
  keep: (reference: string, livesMs: number) => void;
  /** Opens the file's bytes. They must be read as a stream, because files are large. */
  open: () => Promise<Readable>;
  /** Returns an address from which the provider can fetch the bytes for some minutes. */
  link: () => string;
  /**
   * Must be awaited before the last bytes of a request that can deliver the file are written. Until then, a
   * killed worker has certainly sent nothing.
   * @throws if the file must not be sent any more, for example because another worker sends it
   */
  begin: () => Promise<void>;
  /** Ends uploads when the file must not be sent any more. */
  signal: AbortSignal;
}
