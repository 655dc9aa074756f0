import { Readable } from 'node:stream';

/** Names the bytes of a file, or the bytes of a rendition of it. */
export interface FileKey {
  tenantId: string;
  fileId: string;
  /** Whether the key names the file's rendition; false by default. */
  isRendition?: boolean;
}

/** First and last byte of a part of a file, both inclusive. */
export interface FileRange {
  start: number;
  end: number;
}

export interface PutOptions {
  /** Number of bytes, if known. A store may hold more in memory for a file of unknown size. */
  size?: number;
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal;
}

/** Keeps the bytes of files. All processes of the service share one store. */
export abstract class FileStore {
  /**
   * Stores the bytes of a file, whole or not at all. They are durable when it resolves. It never replaces
   * bytes.
   * @returns false if there are bytes under this key; they may be of a call whose answer was lost
   * @throws the error of the source or of the store
   */
  abstract put(key: FileKey, source: Readable, options?: PutOptions): Promise<boolean>;

  /**
   * Opens a file for reading, or a part of it.
   * @throws FileMissing, the error of the store
   */
  abstract open(key: FileKey, range?: FileRange): Promise<Readable>;

  /** Returns the number of a file's bytes; null if there is none. */
  abstract size(key: FileKey): Promise<number | null>;

  /** Removes the bytes of a file. Does nothing if there are none. */
  abstract remove(key: FileKey): Promise<void>;

  /** Lists up to `count` files whose paths follow a path, in the order of their paths. */
  abstract list(after: string, count: number): Promise<StoredFile[]>;

  /** Removes the remains of calls of `put` that ended before a time without storing a file. */
  abstract removeIncomplete(before: Date): Promise<number>;

  /** Reports whether the store has the mark of a database. */
  abstract hasMark(id: string): Promise<boolean>;

  /** Sets the mark of a database, by which other processes recognise the store. */
  abstract setMark(id: string): Promise<void>;

  /** Removes the mark of a database, if it is there. */
  abstract removeMark(id: string): Promise<void>;

  /** Returns the number of databases whose mark the store has. */
  abstract countMarks(): Promise<number>;

  /** Returns the space of the store's disk; null if the store has no disk that can be full. */
  abstract space(): Promise<StoreSpace | null>;

  /** Name of the store in messages to operators. */
  abstract get place(): string;
}

/** Space of a disk, in bytes. */
export interface StoreSpace {
  /** Bytes that this process may still write. */
  free: number;
  total: number;
}

/** File that a store holds, by its path. */
export interface StoredFile {
  path: string;
  modifiedAt: Date;
}

/** Error of reading a file that the store does not hold. */
export class FileMissing extends Error {
  constructor() {
    super('the store holds no such file');
  }
}

/** Error of a store that is away, full or broken. Its cause is the error of the store. */
export class FileStoreFault extends Error {
  constructor(cause: unknown) {
    super('the store of files does not work', { cause });
    this.name = 'FileStoreFault';
  }
}

const RENDITION = '.rendition';
const PATH = /^([0-9a-f-]{36})\/[0-9a-f]{2}\/([0-9a-f-]{36})(\.rendition)?$/;

/** Returns a file's path in a store. The last two digits of an id are random, so they spread the files. */
export function pathOf({ tenantId, fileId, isRendition = false }: FileKey): string {
  return `${tenantId}/${fileId.slice(-2)}/${fileId}${isRendition ? RENDITION : ''}`;
}

/** Returns the key of a file's path; null if the path is not one of a file. */
export function keyOf(path: string): FileKey | null {
  const [, tenantId, fileId, rendition] = PATH.exec(path) ?? [];
  if (!tenantId || !fileId) return null;
  return { tenantId, fileId, isRendition: rendition !== undefined };
}

/** Beginning of the name of each mark. */
export const MARK = 'database-';

/** Returns the name of a database's mark. It is not the path of a file. */
export function markOf(id: string): string {
  return `${MARK}${id}`;
}
