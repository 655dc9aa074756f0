import { Module } from '@nestjs/common';
import { MessagesModule } from '../../messages/messages.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { TableRegistry } from '../../stored-data/table-registry';
import { providerIdsTables } from './provider-ids-tables';
import { ProviderIdsRepository } from './provider-ids.repository';

@Module({
  imports: [MessagesModule, SecretsModule],
  providers: [ProviderIdsRepository],
  exports: [ProviderIdsRepository],
})
export class ProviderIdsModule {
  constructor(tables: TableRegistry, providerIds: ProviderIdsRepository) {
    tables.register(...providerIdsTables(providerIds));
  }
}
