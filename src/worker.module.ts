import { Module, OnApplicationBootstrap } from '@nestjs/common';
import { OutboundMessagesWorkerModule } from './channels/outbound/outbound-messages-worker.module';
import { TokensModule } from './channels/tokens/tokens.module';

import { OutboxRelay } from './outbox/outbox.relay';
import { RelayModule } from './outbox/relay.module';
import { RetentionModule } from './retention/retention.module';
import { DeliveryModule } from './webhooks/delivery.module';

/**
 * What works in the background: relays events, sends outbound messages and webhooks, deletes old rows. The module
 * imported last is stopped first: messages and deliveries, which need the time.
 */
@Module({
  imports: [RetentionModule, TokensModule, RelayModule, OutboundMessagesWorkerModule, DeliveryModule],
})
export class WorkerModule implements OnApplicationBootstrap {
  constructor(private readonly relay: OutboxRelay) {}

  /** By now every consumer has registered. */
  onApplicationBootstrap(): void {
    this.relay.start();
  }
}
