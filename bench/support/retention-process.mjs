// Runs the retention of the history on request, as a worker does every ten minutes, and measures it.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { NestFactory } from '@nestjs/core';

const require = createRequire(import.meta.url);
const { MessagingModule } = require('../../dist/index.js');
const { Config } = require('../../dist/config/config.js');
const { Database } = require('../../dist/database/database.js');
const { OwnerDatabase } = require('../../dist/database/owner-database.js');
const { PartitionChanges } = require('../../dist/database/partition-changes.js');
const { Partitions } = require('../../dist/database/partitions.js');
const { PartitionKeeper } = require('../../dist/retention/partition-keeper.js');
const { PartitionReferences } = require('../../dist/retention/partition-references.js');
const { SuspendedBacklog } = require('../../dist/retention/suspended-backlog.js');
const { TableRegistry } = require('../../dist/stored-data/table-registry.js');
const { TableRowsRepository } = require('../../dist/stored-data/table-rows.repository.js');
const { WorkspacesRepository } = require('../../dist/workspaces/workspaces.repository.js');
const { RetentionService } = require('../../dist/retention/retention.service.js');

const {
  DATABASE_URL: databaseUrl,
  DATABASE_OWNER_URL: databaseOwnerUrl,
  REDIS_URL: redisUrl,
  SECRETS_KEYS: secretsKeys,
} = process.env;
const app = await NestFactory.createApplicationContext(
  MessagingModule.forRoot({ databaseUrl, redisUrl, secretsKeys }),
  { logger: ['error', 'warn'] },
);
const find = (type) => app.get(type, { strict: false });

process.on('message', async ({ retentionDays }) => {
  const config = { ...find(Config), retentionDays, databaseOwnerUrl };
  const database = find(Database);
  const [tables, rows] = [find(TableRegistry), find(TableRowsRepository)];
  const owner = new OwnerDatabase(config, database);
  const keeper = new PartitionKeeper(
    config,
    find(Partitions),
    new PartitionChanges(owner),
    new PartitionReferences(database, find(WorkspacesRepository), tables, rows),
    new SuspendedBacklog(database, find(WorkspacesRepository), tables),
  );
  const startedAt = performance.now();
  try {
    await keeper.detach();
    await keeper.drop();
    await new RetentionService(config, database, tables, rows).clean();
    await owner.onApplicationShutdown();
    process.send({ ms: performance.now() - startedAt });
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
});
process.on('SIGTERM', () => app.close().then(() => process.exit()));
process.on('disconnect', () => process.exit());
process.send({ port: 0 });
