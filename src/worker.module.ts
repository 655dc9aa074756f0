import { Module, OnApplicationBootstrap } from '@nestjs/common';
import { OutboundMessagesWorkerModule } from './channels/outbound/outbound-messages-worker.module';
import { ConnectionCloserModule } from './channels/connections/connection-closer';
import { TokensModule } from './channels/tokens/tokens.module';
import { OwnerDatabaseModule } from './database/database.module';
import { OutboxRelay } from './outbox/outbox.relay';
import { RelayModule } from './outbox/relay.module';
import { PrivacyWorkerModule } from './privacy/privacy.module';
import { RetentionModule } from './retention/retention.module';
import { DeliveryModule } from './webhooks/delivery.module';
import { WorkspaceDeletionModule } from './workspaces/deletion/workspace-deletion.module';

/**
 * What works in the background: relays events, sends outbound messages and webhooks, deletes workspaces and old rows. The
 * module imported last is stopped first: messages and deliveries, which need the time.
 */
@Module({
  imports: [
    OwnerDatabaseModule,
    RetentionModule,
    WorkspaceDeletionModule,
    ConnectionCloserModule,
    PrivacyWorkerModule,
    TokensModule,
    RelayModule,
    OutboundMessagesWorkerModule,
    DeliveryModule,
  ],
})
export class WorkerModule implements OnApplicationBootstrap {
  constructor(private readonly relay: OutboxRelay) {}

  /** By now every consumer has registered. */
  onApplicationBootstrap(): void {
    this.relay.start();
  }
}
