import { Injectable, OnModuleInit } from '@nestjs/common';
import { WorkspaceDeleter } from '../../workspaces/deletion/workspace-deleter';
import { FileStore, keyOf } from '../store/file-store';

/** Number of files that are removed in a step, few because the deletions of other workspaces wait for it. */
const STEP = 100;

/** Removes the bytes of a workspace's files before its rows are deleted. */
@Injectable()
export class WorkspaceFileRemover implements OnModuleInit {
  constructor(
    private readonly deleter: WorkspaceDeleter,
    private readonly store: FileStore,
  ) {}

  onModuleInit(): void {
    this.deleter.register((tenantId) => this.remove(tenantId));
  }

  /** Removes some of the bytes, in the order of their paths. */
  private async remove(tenantId: string): Promise<'more' | 'done'> {
    const keys = (await this.store.list(`${tenantId}/`, STEP)).map(({ path }) => keyOf(path));
    const own = keys.filter((key) => key?.tenantId === tenantId);
    for (const key of own) await this.store.remove(key!);
    return own.length < STEP ? 'done' : 'more';
  }
}
