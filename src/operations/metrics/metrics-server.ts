import { createServer, Server, ServerResponse } from 'node:http';
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config';
import { DatabaseMetrics } from './database-metrics';
import { Metrics } from '../../metrics/metrics';

/** Serves `/metrics` on a port of its own, which can stay private. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private server: Server | null = null;

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly databaseMetrics: DatabaseMetrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, http } = this.config;
    if (metricsPort === null) return;
    const server = createServer((request, response) => {
      if (request.url === '/metrics') void this.respond(response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(metricsPort, http.host, resolve),
    );
    this.server = server;
  }

  get address(): ReturnType<Server['address']> {
    return this.server?.address() ?? null;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async respond(response: ServerResponse): Promise<void> {
    try {
      await this.databaseMetrics.collect();
      const body = await this.metrics.registry.metrics();
      response.writeHead(200, { 'content-type': this.metrics.registry.contentType }).end(body);
    } catch (error) {
      this.logger.error({ err: error as Error }, 'failed to collect metrics');
      response.writeHead(500).end();
    }
  }
}
