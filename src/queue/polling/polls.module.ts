import { Global, Module } from '@nestjs/common';
import { Polls } from './polls';

/** Gives workers the polls. No API process has them. */
@Global()
@Module({ providers: [Polls], exports: [Polls] })
export class PollsModule {}
