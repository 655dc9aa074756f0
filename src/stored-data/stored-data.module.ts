import { Global, Module } from '@nestjs/common';
import { TableRegistry } from './table-registry';
import { TableRowsRepository } from './table-rows.repository';

/** Provides the registry in which every feature with a table declares it. */
@Global()
@Module({
  providers: [TableRegistry, TableRowsRepository],
  exports: [TableRegistry, TableRowsRepository],
})
export class StoredDataModule {}
