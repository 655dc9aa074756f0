import { Global, Module } from '@nestjs/common';
import { Polls } from './polls';
import { WorkRunner } from './work-runner';

/** Gives workers the polls, and the runner of work in steps. No API process has them. */
@Global()
@Module({ providers: [Polls, WorkRunner], exports: [Polls, WorkRunner] })
export class PollsModule {}
