import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { Day, lowestId, startOf } from '../../database/history/partitions';
import { TableRegistry } from '../../database/tables/table-registry';
import { TableRowsRepository } from '../../database/tables/table-rows.repository';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';

/** Number of workspaces that one step looks at. */
const STEP = 1_000;

/** Unfinished work that needs the events of a day. */
export interface PartitionReference {
  tenantId: string;
  table: string;
}

/** Finds unfinished work that needs the events of a day, and so keeps the day's partitions. */
@Injectable()
export class PartitionReferences {
  constructor(
    private readonly database: Database,
    private readonly workspaces: WorkspacesRepository,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
  ) {}

  /** Returns the first reference to the day's events or deliveries; null when there is none. */
  async find(day: Day): Promise<PartitionReference | null> {
    const uses = this.tables.listHistoryUses();
    const bounds = { first: lowestId(day), next: lowestId(day + 1), start: startOf(day) };
    for (let after = LOWEST_ID; ;) {
      const ids = await this.workspaces.listIds(after, STEP);
      for (const tenantIds of this.database.spansWorkspaces ? [ids] : ids.map((id) => [id])) {
        const workspaces = await this.database.queueTransaction((tx) =>
          this.rows.findHistoryUses(tx, uses, tenantIds, bounds),
        );
        const found = workspaces.find(({ table }) => table !== null);
        if (found) return found as PartitionReference;
      }
      if (ids.length < STEP) return null;
      after = ids.at(-1)!;
    }
  }
}
