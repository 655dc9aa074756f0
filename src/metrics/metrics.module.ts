import { Global, Module } from '@nestjs/common';
import { DatabaseMetrics } from './database-metrics';
import { Metrics } from './metrics';
import { MetricsServer } from './metrics-server';
import { WorkspaceUsageRepository } from './workspace-usage.repository';

@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}

@Module({ providers: [WorkspaceUsageRepository, DatabaseMetrics, MetricsServer] })
export class MetricsServerModule {}
