import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../access/principal';
import { WorkspaceDeleter } from '../../workspaces/deletion/workspace-deleter';
import { ChannelConnectionsService } from './channel-connections.service';

/** Disconnects all channels of a workspace before its rows are deleted. */
@Injectable()
export class ConnectionCloser implements OnModuleInit {
  private readonly logger = new Logger(ConnectionCloser.name);

  constructor(
    private readonly deleter: WorkspaceDeleter,
    private readonly connections: ChannelConnectionsService,
  ) {}

  onModuleInit(): void {
    this.deleter.register((tenantId) => this.close(tenantId));
  }

  private async close(tenantId: string): Promise<'done'> {
    for (const { id } of await this.connections.list(tenantId, SYSTEM)) {
      const { channel, externalId, providerFault } = await this.connections.disconnect(tenantId, id, SYSTEM);
      if (providerFault === null) continue;
      const details = { tenantId, channel, externalId, providerFault };
      this.logger.warn(details, 'the hook of a deleted workspace was not deregistered at its provider');
    }
    return 'done';
  }
}
