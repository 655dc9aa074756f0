import { Module } from '@nestjs/common';
import { registerQueue } from '../../queue/register-queue';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { INSTAGRAM_TOKENS_QUEUE, InstagramTokensProcessor } from './instagram-tokens.processor';
import { InstagramTokensRepository } from './instagram-tokens.repository';
import { InstagramTokensService } from './instagram-tokens.service';

/** Refreshes tokens. Only workers import it. */
@Module({
  imports: [registerQueue(INSTAGRAM_TOKENS_QUEUE), ChannelAdaptersModule, ChannelConnectionsModule],
  providers: [InstagramTokensRepository, InstagramTokensService, InstagramTokensProcessor],
})
export class TokensWorkerModule {}
