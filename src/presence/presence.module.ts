import { Module } from '@nestjs/common';
import { PresenceService } from './presence.service';
import { PresenceStore } from './presence-store';

@Module({
  providers: [PresenceStore, PresenceService],
  exports: [PresenceStore, PresenceService],
})
export class PresenceModule {}
