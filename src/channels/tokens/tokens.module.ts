import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { queueOptions } from '../../queue/queue.options';
import { ChannelAdaptersModule } from '../adapters/channel-adapters.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { INSTAGRAM_TOKENS_QUEUE, InstagramTokensProcessor } from './instagram-tokens.processor';
import { InstagramTokensService } from './instagram-tokens.service';

/** Imported by workers only. */
@Module({
  imports: [
    BullModule.registerQueueAsync({
      name: INSTAGRAM_TOKENS_QUEUE,
      inject: [Config],
      useFactory: queueOptions,
    }),
    ChannelAdaptersModule,
    ChannelConnectionsModule,
  ],
  providers: [InstagramTokensService, InstagramTokensProcessor],
})
export class TokensModule {}
