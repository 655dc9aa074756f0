import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database';
import { Transaction } from '../../../database/transaction';
import { ChannelAdapter, SendOutcome } from '../../adapters/channel-adapter';
import { ClaimedMessage } from '../claimed-message';
import { OutcomeWriter } from '../outcome-writer';
import { formOf } from './part-plan';
import { NextPart, PartPlans } from './part-plans';
import { PartRecorder, PartResult } from './part-recorder';
import { PartAttempt, PartSender } from './part-sender';
import { ProviderFilesRepository } from './provider-files.repository';

/** Makes attempts to send messages with files. An attempt sends one part; the next claim sends the next. */
@Injectable()
export class PartAttempter {
  constructor(
    private readonly database: Database,
    private readonly plans: PartPlans,
    private readonly sender: PartSender,
    private readonly recorder: PartRecorder,
    private readonly providerFiles: ProviderFilesRepository,
    private readonly outcomes: OutcomeWriter,
  ) {}

  /**
   * Sends the next part of a claimed message, and resolves when its outcome is committed.
   * @returns the outcome of the part's request too; null if there was no request
   */
  async attempt(
    message: ClaimedMessage,
    recipientId: string,
    adapter: ChannelAdapter,
  ): Promise<{ result: PartResult; outcome: SendOutcome | null }> {
    const next = await this.database.placement.forWorkspace(message.tenantId, () =>
      this.database.transaction((tx) => this.plans.findNext(tx, message)),
    );
    if (!next) {
      const end = (tx: Transaction) => this.recorder.end(tx, message);
      return { outcome: null, result: await this.outcomes.write(message, 'no part left', end) };
    }
    const attempt = await this.sender.send(message, recipientId, next, adapter);
    const { outcome } = attempt;
    if (outcome === null) {
      const giveBack = (tx: Transaction) => this.recorder.giveBack(tx, message);
      return { outcome, result: await this.outcomes.write(message, 'not sent', giveBack) };
    }
    const result = await this.outcomes.write(message, outcome.kind, (tx) =>
      this.record(tx, message, next, { ...attempt, outcome }, adapter),
    );
    return { outcome, result };
  }

  private async record(
    tx: Transaction,
    message: ClaimedMessage,
    { part, attachment, known }: NextPart,
    { outcome, kept }: PartAttempt & { outcome: SendOutcome },
    adapter: ChannelAdapter,
  ): Promise<PartResult> {
    const { connection } = message;
    const form = attachment && formOf(connection.channel, attachment);
    const key = part.fileId && form && { connection, fileId: part.fileId, form };
    // The provider may refuse its own reference because it has expired, so the file is uploaded again.
    const isStale = key && known !== null && outcome.kind === 'TERMINAL';
    const result = await this.recorder.write(
      tx,
      message,
      part,
      isStale ? { kind: 'RETRY', fault: outcome.fault } : outcome,
      adapter,
    );
    if (isStale) await this.providerFiles.delete(tx, key);
    else if (key && kept) await this.providerFiles.set(tx, part, key, kept);
    return result;
  }
}
