import { Injectable } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { FileUsageRepository } from './file-usage.repository';

/** Share of a workspace's space from which on an alert is open, and the share below which it is resolved. */
const NEARLY_FULL = 0.9;
const ROOMY = 0.8;

/** Gives the files of a workspace their space. An alert is open while the space is nearly used up. */
@Injectable()
export class FileSpace {
  constructor(
    private readonly config: Config,
    private readonly usage: FileUsageRepository,
    private readonly alerts: AlertWriter,
  ) {}

  /**
   * Takes space for a file.
   * @param share part of the workspace's space, from 0 to 1, that may be used up
   * @returns false if there is not enough
   */
  async reserve(tx: Transaction, tenantId: string, bytes: number, share = 1): Promise<boolean> {
    const { workspaceFileBytes: space } = this.config;
    const used = await this.usage.add(tx, tenantId, bytes, space && Math.floor(space * share));
    if (used === null) return false;
    const limit = (space ?? Infinity) * NEARLY_FULL;
    if (used >= limit && used - bytes < limit)
      await this.alerts.open(tx, tenantId, 'FILES_NEARLY_FULL', tenantId);
    return true;
  }

  async release(tx: Transaction, tenantId: string, bytes: number): Promise<void> {
    const used = await this.usage.subtract(tx, tenantId, bytes);
    const limit = (this.config.workspaceFileBytes ?? Infinity) * ROOMY;
    if (used < limit && used + bytes >= limit)
      await this.alerts.resolve(tx, tenantId, ['FILES_NEARLY_FULL'], tenantId);
  }
}
