import { Global, Module } from '@nestjs/common';
import { TableRegistry } from './table-registry';
import { TableRowsRepository } from './table-rows.repository';

/** Provides the registry of tables, in which each feature declares its own. */
@Global()
@Module({
  providers: [TableRegistry, TableRowsRepository],
  exports: [TableRegistry, TableRowsRepository],
})
export class StoredDataModule {}
