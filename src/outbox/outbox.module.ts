import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEntity } from './event.entity';
import { OutboxRelay } from './outbox.relay';
import { OutboxService } from './outbox.service';
import { OutboxSignal } from './outbox.signal';

@Module({
  imports: [TypeOrmModule.forFeature([EventEntity])],
  providers: [OutboxService, OutboxSignal, OutboxRelay],
  exports: [OutboxService, OutboxRelay],
})
export class OutboxModule {}
