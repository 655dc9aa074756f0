// Runs the retention of the history on request, as a worker does every ten minutes, and measures it.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import { Config } from '#dist/config/config.js';
import { Database } from '#dist/database/database.js';
import { OwnerDatabase } from '#dist/database/owner-database.js';
import { PartitionChanges } from '#dist/database/history/partition-changes.js';
import { Partitions } from '#dist/database/history/partitions.js';
import { MessagingModule } from '#dist/index.js';
import { PartitionKeeper } from '#dist/operations/retention/partition-keeper.js';
import { HistoryUses } from '#dist/operations/retention/history-uses.js';
import { RetentionService } from '#dist/operations/retention/retention.service.js';
import { TableRegistry } from '#dist/database/tables/table-registry.js';
import { TableRowsRepository } from '#dist/database/tables/table-rows.repository.js';
import { WorkspacesRepository } from '#dist/workspaces/workspaces.repository.js';
import { serveParent } from './parent.mts';
import { environmentVariable } from './settings.mts';

const databaseOwnerUrl = process.env.DATABASE_OWNER_URL ?? null;
const app = await NestFactory.createApplicationContext(
  MessagingModule.forRoot({
    databaseUrl: environmentVariable('DATABASE_URL'),
    redisUrl: environmentVariable('REDIS_URL'),
    secretsKeys: environmentVariable('SECRETS_KEYS'),
  }),
  { logger: ['error', 'warn'] },
);
const find = <T,>(type: Type<T>): T => app.get(type, { strict: false });

/** Runs the retention of the history once, with `retentionDays` in place of the configured number. */
async function retain(retentionDays: number): Promise<void> {
  const config: Config = { ...app.get<Config>(Config, { strict: false }), retentionDays, databaseOwnerUrl };
  const database = find(Database);
  const partitions = find(Partitions);
  const [tables, rows] = [find(TableRegistry), find(TableRowsRepository)];
  const owner = new OwnerDatabase(config, database);
  const keeper = new PartitionKeeper(
    config,
    partitions,
    new PartitionChanges(owner),
    new HistoryUses(database, find(WorkspacesRepository), tables, rows),
  );
  await keeper.detach();
  await keeper.drop();
  await new RetentionService(config, database, tables, rows, partitions).clean();
  await owner.onApplicationShutdown();
}

serveParent(
  async ({ retentionDays }: { retentionDays: number }) => {
    const startedAt = performance.now();
    await retain(retentionDays);
    return { ms: performance.now() - startedAt };
  },
  () => app.close(),
);
