import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { queueOptions } from '../../queue/queue.options';
import { ChannelsModule } from '../channels.module';
import { INSTAGRAM_TOKENS_QUEUE, InstagramTokensProcessor } from './instagram-tokens.processor';
import { InstagramTokensService } from './instagram-tokens.service';

/** The worker's care for tokens that end. */
@Module({
  imports: [
    BullModule.registerQueueAsync({
      name: INSTAGRAM_TOKENS_QUEUE,
      inject: [Config],
      useFactory: queueOptions,
    }),
    ChannelsModule,
  ],
  providers: [InstagramTokensService, InstagramTokensProcessor],
})
export class TokensModule {}
