import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/metrics';
import { Room } from '../../wake-ups/room';
import { TurnDispatcher } from '../../wake-ups/turn.dispatcher';
import { ClaimedDispatch } from './claimed-dispatch';
import { DispatchClaimer } from './dispatch.claimer';
import { DispatchFollowUp } from './dispatch.follow-up';
import { DispatchSender } from './dispatch.sender';
import { DispatchStore } from './dispatch.store';

/** Messages under way at once in this process, and over one connection: no slow provider holds up the others. */
const MAX_UNDER_WAY = 500;
const MAX_PER_CONNECTION = 25;

/** Serves one connection for a turn: claims messages, and starts sending them side by side. */
@Injectable()
export class DispatchDispatcher extends TurnDispatcher<ClaimedDispatch> {
  private readonly logger = new Logger(DispatchDispatcher.name);

  constructor(
    private readonly claimer: DispatchClaimer,
    private readonly sender: DispatchSender,
    private readonly store: DispatchStore,
    private readonly followUp: DispatchFollowUp,
    private readonly metrics: Metrics,
  ) {
    super(new Room(MAX_UNDER_WAY, MAX_PER_CONNECTION));
  }

  protected override isPaused(connectionId: string): boolean {
    return this.claimer.isPaused(connectionId);
  }

  protected override claim(connectionId: string, count: number): Promise<ClaimedDispatch[]> {
    return this.claimer.claim(connectionId, count);
  }

  protected override async carryThrough(connectionId: string, dispatch: ClaimedDispatch): Promise<void> {
    this.metrics.channelMessagesUnderWay.inc();
    try {
      // No request has been made for it, and none will be: whoever claims it next may.
      if (this.isStopping) await this.store.giveBack(dispatch);
      else this.followUp.after(dispatch, await this.sender.send(dispatch));
    } catch (error) {
      // Our own fault, not the provider's: with the lease's end the message is UNKNOWN.
      const { tenantId, messageId } = dispatch;
      this.logger.error(
        { err: error as Error, tenantId, connectionId, messageId },
        'a message was not carried through',
      );
    } finally {
      this.metrics.channelMessagesUnderWay.dec();
    }
  }

  protected override share(connectionIds: string[]): void {
    this.followUp.share(connectionIds);
  }
}
