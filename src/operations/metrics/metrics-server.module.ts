import { Module } from '@nestjs/common';
import { DatabaseMetrics } from './database-metrics';
import { MetricsServer } from './metrics-server';
import { WorkspaceUsageRepository } from './workspace-usage.repository';

@Module({ providers: [WorkspaceUsageRepository, DatabaseMetrics, MetricsServer] })
export class MetricsServerModule {}
