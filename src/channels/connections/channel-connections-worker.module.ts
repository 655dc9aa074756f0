import { Module } from '@nestjs/common';
import { WorkspaceDeletionWorkerModule } from '../../workspaces/deletion/workspace-deletion-worker.module';
import { ChannelConnectionsModule } from './channel-connections.module';
import { ConnectionCloser } from './connection-closer';

/** The worker's side of connections: it disconnects those of a workspace that is deleted. */
@Module({
  imports: [ChannelConnectionsModule, WorkspaceDeletionWorkerModule],
  providers: [ConnectionCloser],
})
export class ChannelConnectionsWorkerModule {}
