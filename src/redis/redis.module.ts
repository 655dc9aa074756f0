import { Global, Module } from '@nestjs/common';
import { FixedWindows } from './fixed-windows';
import { RedisClient } from './redis-client';
import { RedisConnections } from './redis-connections';
import { RedisSubscriber } from './redis-subscriber';
import { RedisSignals } from './redis-signals';
import { WorkerShards } from './worker-shards';

const PROVIDERS = [RedisConnections, RedisClient, RedisSubscriber, RedisSignals, WorkerShards, FixedWindows];

@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class RedisModule {}
