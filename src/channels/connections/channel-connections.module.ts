import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/setup/database.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { CHANNEL_CONNECTION_TABLES } from './channel-connection-tables';
import { ChannelConnectionEntity } from './channel-connection.entity';
import { ChannelConnectionsRepository } from './channel-connections.repository';
import { ChannelConnectionsService } from './channel-connections.service';
import { ConnectionRegistration } from './connection-registration';
import { ConnectionLoader } from './connection-loader';
import { PreviewTokens } from './preview-tokens';

@Module({
  imports: [
    DatabaseModule.forEntities([ChannelConnectionEntity]),
    AuditModule,
    OutboxModule,
    RateLimitModule,
    SecretsModule,
    ChannelAdaptersModule,
  ],
  providers: [
    ConnectionRegistration,
    ConnectionLoader,
    ChannelConnectionsRepository,
    ChannelConnectionsService,
    PreviewTokens,
  ],
  exports: [ConnectionLoader, ChannelConnectionsRepository, ChannelConnectionsService, PreviewTokens],
})
export class ChannelConnectionsModule {
  constructor(tables: TableRegistry) {
    tables.register(...CHANNEL_CONNECTION_TABLES);
  }
}
