import { Module, OnApplicationBootstrap } from '@nestjs/common';
import { OutboundMessagesModule } from './channels/outbound/outbound-messages.module';
import { TokensModule } from './channels/tokens/tokens.module';
import { OutboxModule } from './outbox/outbox.module';
import { OutboxRelay } from './outbox/outbox.relay';
import { RetentionModule } from './retention/retention.module';
import { DeliveryModule } from './webhooks/deliveries/delivery.module';

/**
 * The worker: it relays events, sends messages and webhooks, and removes what is old. Over HTTP it serves only its
 * health. What is imported last is stopped first: messages and deliveries, which need the time.
 */
@Module({ imports: [RetentionModule, TokensModule, OutboxModule, OutboundMessagesModule, DeliveryModule] })
export class WorkerModule implements OnApplicationBootstrap {
  constructor(private readonly relay: OutboxRelay) {}

  /** Once every consumer has registered. */
  onApplicationBootstrap(): void {
    this.relay.start();
  }
}
