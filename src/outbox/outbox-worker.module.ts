import { Module } from '@nestjs/common';
import { OutboxModule } from './outbox.module';
import { OutboxPoll } from './outbox-poll';
import { OutboxRelay } from './outbox-relay';
import { ParkedEventsWorker } from './parked-events.worker';
import { RelayFailures } from './relay-failures';
import { RelayTurn } from './relay-turn';

/** Relays events, in workers. Consumers register at the relay. */
@Module({
  imports: [OutboxModule],
  providers: [OutboxRelay, RelayTurn, RelayFailures, OutboxPoll, ParkedEventsWorker],
  exports: [OutboxRelay],
})
export class OutboxWorkerModule {}
