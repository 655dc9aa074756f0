import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WorkspaceServer } from '../../database/placement/placement';
import { BEFORE_ALL_DUE, DuePosition } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { nextTryAfter } from '../mail-tries';
import {
  AgentNoticesRepository,
  ClaimedNotices,
  NoticeContent,
  NoticeRecipient,
} from './agent-notices.repository';
import { NoticeDispatch, NoticeOutcome, NoticeReader } from './notice-dispatch';
import { NoticeReaders } from './notice-readers';

/** Number of workspaces whose notices a worker sends at the same time. */
const SIDE_BY_SIDE = 4;
/** Time after which notices to an agent who uses the inbox are looked at again. */
const WHILE_THERE_MS = 30_000;
/** Time for which notices wait above a limit. Then they go out together. */
const ABOVE_LIMIT_MS = 3_600_000;

interface Sending extends ClaimedNotices {
  reader: NoticeReader;
  contents: NoticeContent[];
}

/**
 * Sends notices to agents, each at least once. All notices of an agent that are due go out in one mail. It is
 * sent twice only if its worker ends between the answer of the mail server and the commit; both mails have
 * the same Message-ID.
 */
@Injectable()
export class AgentSender {
  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly notices: AgentNoticesRepository,
    private readonly readers: NoticeReaders,
    private readonly dispatch: NoticeDispatch,
  ) {
    runner.registerFree({
      name: 'agent notices',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => this.findDue(after, server) },
      sideBySide: SIDE_BY_SIDE,
      step: (recipient) => this.step(recipient),
    });
  }

  /** Finds due notices that this process can send; without a way to send any, it does not ask. */
  private async findDue(after: DuePosition, server: WorkspaceServer) {
    const ways = this.dispatch.listWays();
    if (ways.length === 0) return { items: [], next: null };
    const { items, next } = await this.notices.findDue(after, server);
    return { items: items.filter(({ way }) => ways.includes(way)), next };
  }

  private async step(recipient: NoticeRecipient): Promise<StepOutcome> {
    const isThere = await this.readers.isThere(recipient);
    const sending = await this.database.queueTransaction((tx) => this.claim(tx, recipient, isThere));
    if (!sending) return 'done';
    const { sendingId, reader, contents } = sending;
    const outcome = await this.dispatch.trySending(recipient, reader, sendingId, contents);
    await this.database.queueTransaction((tx) => this.record(tx, recipient, sending, outcome));
    return 'done';
  }

  /** Claims the notices that go out together; null if there are none, or they have to wait. */
  private async claim(
    tx: Transaction,
    recipient: NoticeRecipient,
    isThere: boolean,
  ): Promise<Sending | null> {
    await this.notices.deleteOver(tx, recipient);
    if (!(await this.notices.hasDue(tx, recipient))) return null;
    const reader = isThere ? null : await this.readers.find(tx, recipient);
    if (!isThere && !reader) {
      await this.notices.deleteOfRecipient(tx, recipient);
      return null;
    }
    if (!reader || !(await this.readers.countNotice(recipient, reader))) {
      const waitMs = isThere ? WHILE_THERE_MS : ABOVE_LIMIT_MS;
      await this.notices.postpone(tx, recipient, new Date(Date.now() + waitMs));
      return null;
    }
    const claimed = await this.notices.claim(tx, recipient, newId());
    if (!claimed) return null;
    const contents = await this.notices.listContents(tx, recipient, claimed.sendingId);
    return { ...claimed, reader, contents };
  }

  private async record(
    tx: Transaction,
    recipient: NoticeRecipient,
    sending: Sending,
    outcome: NoticeOutcome,
  ): Promise<void> {
    if (outcome === 'sent') return this.notices.setSent(tx, recipient, sending);
    if (outcome === 'no_such_recipient') await this.readers.setMailRefused(tx, recipient);
    const dueAt = outcome === 'no_device' ? null : nextTryAfter(outcome, sending.tries);
    await this.notices.schedule(tx, recipient, sending, dueAt);
  }
}
