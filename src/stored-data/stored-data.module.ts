import { Global, Module } from '@nestjs/common';
import { TableRegistry } from './table-registry';
import { TableRowsRepository } from './table-rows.repository';

/** What every feature with a table registers with. */
@Global()
@Module({
  providers: [TableRegistry, TableRowsRepository],
  exports: [TableRegistry, TableRowsRepository],
})
export class StoredDataModule {}
