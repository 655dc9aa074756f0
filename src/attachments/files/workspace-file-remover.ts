import { Injectable, OnModuleInit } from '@nestjs/common';
import { WorkspaceDeleter } from '../../workspaces/deletion/workspace-deleter';
import { FileStore, keyOf } from '../store/file-store';

const STEP = 500;

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

  /** Removes the bytes in the order of their paths. A call after a killed one goes on. */
  private async remove(tenantId: string): Promise<void> {
    for (let after = `${tenantId}/`; ;) {
      const keys = (await this.store.list(after, STEP)).map(({ path }) => ({ path, key: keyOf(path) }));
      const own = keys.filter(({ key }) => key?.tenantId === tenantId);
      for (const { key } of own) await this.store.remove(key!);
      if (own.length < STEP) return;
      after = own.at(-1)!.path;
    }
  }
}
