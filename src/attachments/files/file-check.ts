import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { LOWEST_ID } from '../../common/ids';
import { FileKey, FileMissing, FileStore } from '../store/file-store';
import { FileStoresRepository } from '../store/file-stores.repository';
import { FilesRepository, KeptFile } from './files.repository';
import { OrphanSearch } from './orphan-search';

const STEP = 200;
/** Number of files that are looked up at the same time. */
const SIDE_BY_SIDE = 8;

/**
 * Fault of a file. `bytes_missing`, `rendition_missing`: a row says that they are stored. `size_differs`,
 * `sha256_differs`: the row says something else of the bytes. `row_missing`: no row names the bytes.
 */
export type FileFault =
  | 'bytes_missing'
  | 'rendition_missing'
  | 'size_differs'
  | 'sha256_differs'
  | 'row_missing';

export interface FoundFault extends FileKey {
  fault: FileFault;
}

/** Faults that a step has found, and the number of rows or of stored files that it has looked at. */
export type CheckStep = { rows: number; faults: FoundFault[] } | { stored: number; faults: FoundFault[] };

/** Compares the rows of files with the bytes in the store. It changes nothing. */
@Injectable()
export class FileCheck {
  constructor(
    private readonly files: FilesRepository,
    private readonly store: FileStore,
    private readonly stores: FileStoresRepository,
    private readonly orphans: OrphanSearch,
  ) {}

  /**
   * Requires that the store is the one that the service's processes use.
   * @returns whether bytes without rows can be told: not in a store that several databases use
   * @throws AppError UNAVAILABLE
   */
  async prepare(): Promise<boolean> {
    const id = await this.stores.find();
    if (id !== null && !(await this.store.hasMark(id)))
      throw new AppError(
        'UNAVAILABLE',
        `${this.store.place} is not the store of files that the service uses: it lacks its mark, database-${id}.`,
      );
    return (await this.store.countMarks()) <= 1;
  }

  /**
   * Checks the rows of a workspace's files in steps.
   * @param withHashes whether the bytes are read, and their SHA-256 is compared
   */
  async *checkRows(tenantId: string, withHashes: boolean): AsyncGenerator<CheckStep> {
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const rows: KeptFile[] = await this.files.listKept(tenantId, after, STEP);
      const faults: FoundFault[] = [];
      for (let at = 0; at < rows.length; at += SIDE_BY_SIDE) {
        const some = rows.slice(at, at + SIDE_BY_SIDE);
        faults.push(...(await Promise.all(some.map((row) => this.checkRow(row, withHashes)))).flat());
      }
      yield { rows: rows.length, faults };
      after = rows.at(-1)?.fileId;
    }
  }

  /** Searches the store, or the part of it with a workspace's files, for bytes without a row, in steps. */
  async *checkBytes(tenantId?: string): AsyncGenerator<CheckStep> {
    for await (const { seen, orphans } of this.orphans.search(tenantId)) {
      const faults: FoundFault[] = [];
      // A file that is being deleted loses its bytes before its row.
      for (const key of orphans)
        if ((await this.store.size(key)) !== null) faults.push({ ...key, fault: 'row_missing' });
      yield { stored: seen, faults };
    }
  }

  private async checkRow(row: KeptFile, withHashes: boolean): Promise<FoundFault[]> {
    const { tenantId, fileId } = row;
    const rendition = { tenantId, fileId, isRendition: true };
    const found: FoundFault[] = [];
    const fault = await this.faultOf(row, withHashes);
    if (fault) found.push({ tenantId, fileId, fault });
    if (row.hasRendition && (await this.store.size(rendition)) === null)
      found.push({ ...rendition, fault: 'rendition_missing' });
    // The file may have become due meanwhile.
    return found.length > 0 && (await this.files.find(tenantId, fileId)) === null ? [] : found;
  }

  private async faultOf(row: KeptFile, withHashes: boolean): Promise<FileFault | null> {
    const { tenantId, fileId } = row;
    const size = await this.store.size({ tenantId, fileId });
    if (size === null) return 'bytes_missing';
    if (size !== row.size) return 'size_differs';
    if (!withHashes || row.sha256 === null) return null;
    try {
      return (await this.hashOf({ tenantId, fileId })).equals(row.sha256) ? null : 'sha256_differs';
    } catch (error) {
      if (error instanceof FileMissing) return 'bytes_missing';
      throw error;
    }
  }

  private async hashOf(key: FileKey): Promise<Buffer> {
    const hash = createHash('sha256');
    for await (const chunk of await this.store.open(key)) hash.update(chunk as Buffer);
    return hash.digest();
  }
}
