import { Global, Module } from '@nestjs/common';
import { Polls } from './polls';
import { WorkRunner } from './work-runner';

@Global()
@Module({ providers: [Polls, WorkRunner], exports: [Polls, WorkRunner] })
export class PollsModule {}
