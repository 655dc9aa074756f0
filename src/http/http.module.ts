import { Global, Module } from '@nestjs/common';
import { Connections } from './connections/connections';
import { EventStreams } from './streams/event-streams';
import { RequestBodies } from './connections/request-bodies';

/** Provides the limits of the connections, bodies and streams of this process. `configureHttp` sets them. */
@Global()
@Module({
  providers: [Connections, RequestBodies, EventStreams],
  exports: [Connections, RequestBodies, EventStreams],
})
export class HttpModule {}
