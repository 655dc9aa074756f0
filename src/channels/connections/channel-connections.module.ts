import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { DatabaseModule } from '../../database/database.module';
import { KeyRotationService } from '../../secrets/key-rotation.service';
import { SecretsModule } from '../../secrets/secrets.module';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionEntity } from './channel-connection.entity';
import { ChannelConnectionsRepository } from './channel-connections.repository';
import { ChannelConnectionsService } from './channel-connections.service';
import { ConnectionRegistration } from './connection-registration';
import { ConnectionLoader } from './connection.loader';

@Module({
  imports: [
    DatabaseModule.forEntities([ChannelConnectionEntity]),
    AuditModule,
    SecretsModule,
    ChannelAdaptersModule,
  ],
  providers: [
    ConnectionRegistration,
    ConnectionLoader,
    ChannelConnectionsRepository,
    ChannelConnectionsService,
  ],
  exports: [ConnectionLoader, ChannelConnectionsService],
})
export class ChannelConnectionsModule {
  constructor(keyRotation: KeyRotationService) {
    keyRotation.register('channel_connections', 'credentials');
  }
}
