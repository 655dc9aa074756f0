import { Global, Module } from '@nestjs/common';
import { Connections } from './connections/connections';
import { EventStreams } from './streams/event-streams';
import { RequestBodies } from './connections/request-bodies';

/**
 * Limits what the HTTP server of this process holds: connections, bodies and streams. `configureHttp` sets
 * the limits.
 */
@Global()
@Module({
  providers: [Connections, RequestBodies, EventStreams],
  exports: [Connections, RequestBodies, EventStreams],
})
export class HttpModule {}
