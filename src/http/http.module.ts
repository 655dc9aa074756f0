import { Global, Module } from '@nestjs/common';
import { Connections } from './connections';
import { RequestBodies } from './request-bodies';

/** What the HTTP server of this process may hold. */
@Global()
@Module({ providers: [Connections, RequestBodies], exports: [Connections, RequestBodies] })
export class HttpModule {}
