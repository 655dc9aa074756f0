import { Module } from '@nestjs/common';
import { SecretsModule } from '../../secrets/secrets.module';
import { MessageProgress } from './message-progress';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Without a queue. */
@Module({
  imports: [SecretsModule],
  providers: [MessageProgress, OutboundMessagesRepository],
  exports: [MessageProgress, OutboundMessagesRepository],
})
export class OutboundMessagesModule {}
