import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { EventEntity } from './event.entity';
import { OutboxRelay } from './outbox.relay';
import { OutboxService } from './outbox.service';
import { OutboxSignal } from './outbox.signal';

@Module({
  imports: [DatabaseModule.forEntities([EventEntity])],
  providers: [OutboxService, OutboxSignal, OutboxRelay],
  exports: [OutboxService, OutboxRelay],
})
export class OutboxModule {}
