import { Global, Module } from '@nestjs/common';
import { Connections } from './connections';
import { EventStreams } from './event-streams';
import { RequestBodies } from './request-bodies';

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
