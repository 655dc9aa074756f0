import { Global, Module } from '@nestjs/common';
import { TableRegistry } from './table-registry';
import { TableRowsRepository } from './table-rows.repository';

/** Provides the registry in which each feature's module declares its tables. */
@Global()
@Module({
  providers: [TableRegistry, TableRowsRepository],
  exports: [TableRegistry, TableRowsRepository],
})
export class StoredDataModule {}
