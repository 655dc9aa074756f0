import { Module } from '@nestjs/common';
import { MessagesModule } from '../../messages/messages.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { providerIdTables } from './provider-id-tables';
import { ProviderIdsRepository } from './provider-ids.repository';

@Module({
  imports: [MessagesModule, SecretsModule],
  providers: [ProviderIdsRepository],
  exports: [ProviderIdsRepository],
})
export class ProviderIdsModule {
  constructor(tables: TableRegistry, providerIds: ProviderIdsRepository) {
    tables.register(...providerIdTables(providerIds));
  }
}
