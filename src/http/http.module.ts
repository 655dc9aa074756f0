import { Global, Module } from '@nestjs/common';
import { Connections } from './connections/connections';
import { EventStreams } from './streams/event-streams';
import { RequestBodies } from './connections/request-bodies';

/**
 * Limits the connections, bodies and streams that the HTTP server of this process holds. `configureHttp` sets
 * the limits.
 */
@Global()
@Module({
  providers: [Connections, RequestBodies, EventStreams],
  exports: [Connections, RequestBodies, EventStreams],
})
export class HttpModule {}
