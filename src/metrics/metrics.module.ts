import { Global, Module } from '@nestjs/common';
import { DatabaseMetrics } from './database.metrics';
import { Metrics } from './metrics';
import { MetricsServer } from './metrics.server';

/** What every room may count with. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}

/** What a process of the service shows of it. */
@Module({ providers: [DatabaseMetrics, MetricsServer] })
export class MetricsServerModule {}
