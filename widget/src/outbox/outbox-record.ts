import type { Message } from '../protocol/types';

/** Message that a visitor wrote in this browser. `Outbox.load` deletes it if sent over ten minutes ago. */
export interface OutboxRecord {
  clientMessageId: string;
  /** Visitor who wrote the message. It is sent only in a session of this visitor. */
  owner: string;
  /** Text of the message; empty for files alone. */
  body: string;
  /** Files of the message; missing if it has none. `FileStore` has their bytes. */
  files?: OutboxFile[];
  /** Name that an anonymous visitor entered in the form. It is sent with the first message. */
  name?: string;
  email?: string;
  /** Sort key among the visitor's messages: a later message has a higher number. */
  order: number;
  /** State of the message. A cancelled one is taken back from the service, which may have it or its files. */
  state: 'waiting' | 'failed' | 'sent' | 'cancelled';
  /** Reason why a file of a failed message cannot be sent; missing if no file is the reason. */
  problem?: FileProblem;
  /** Whether the service did not know the files any more, so that they were uploaded again. */
  isRepeated?: boolean;
  /** Message as the service has stored it; missing while it is unsent. */
  message?: Message;
  sentAt?: number;
  /** Whether IndexedDB has the record; false if only the memory of tabs has it, as without room. */
  isStored?: boolean;
  /** Version of this record. If two tabs have different versions, the higher number is the newer one. */
  revision: number;
}

/** Names of the texts that say why a file cannot be sent. */
export type FileProblem = 'fileTooLarge' | 'fileEmpty' | 'fileRefused' | 'fileGone' | 'noRoom';

export interface OutboxFile {
  fileId: string;
  name: string;
  /** Content type by the file's name, as the browser knows it; empty if the browser does not know it. */
  type: string;
  size: number;
  /** Width in pixels of a picture; missing for other files. */
  width?: number;
  height?: number;
  /** Service's id of the upload; missing before the first attempt. */
  uploadId?: string;
  isUploaded?: boolean;
}
