import { Module } from '@nestjs/common';
import { PresenceService } from './presence.service';
import { VisitorPresence } from './visitor-presence';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { PresenceStore } from './presence-store';

@Module({
  imports: [WorkspacesModule],
  providers: [PresenceStore, PresenceService, VisitorPresence],
  exports: [PresenceService, VisitorPresence],
})
export class PresenceModule {}
