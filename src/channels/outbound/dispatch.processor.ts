import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { TurnProcessor } from '../../wake-ups/turn.processor';
import { type WakeUp } from '../../wake-ups/wake-up.queue';
import { DispatchDispatcher } from './dispatch.dispatcher';
import { DISPATCH_QUEUE, DispatchQueue } from './dispatch.queue';
import { DispatchStore } from './dispatch.store';

/** Serves the connections that are woken. */
@Injectable()
export class DispatchProcessor extends TurnProcessor {
  constructor(
    @InjectQueue(DISPATCH_QUEUE) bull: Queue<WakeUp>,
    queue: DispatchQueue,
    dispatcher: DispatchDispatcher,
    private readonly store: DispatchStore,
  ) {
    super(bull, queue, dispatcher);
  }

  protected override async hasDue(connectionId: string): Promise<boolean> {
    return (await this.store.ready(connectionId, 1)) !== null;
  }
}
