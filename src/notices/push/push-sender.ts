import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database';
import { LoginsService } from '../../logins/logins.service';
import { MembershipsRepository } from '../../logins/people/memberships.repository';
import { Metrics } from '../../metrics/metrics';
import { PushAddressesRepository, SealedAddress } from './push-addresses.repository';
import { PushNotice } from './push-message';
import { PushServices } from './push-services';

/** Result of one try: the push service has taken the notice, knows no such address, or has failed. */
export type PushOutcome = 'taken' | 'gone' | 'failed';

/** Numbers of browsers whose push services have taken a notice, and whose push services have failed. */
export interface PushResult {
  taken: number;
  failed: number;
}

const NONE: PushResult = { taken: 0, failed: 0 };

/** Pushes notices to browsers in which agents are logged in. */
@Injectable()
export class PushSender {
  private readonly logger = new Logger(PushSender.name);

  constructor(
    private readonly database: Database,
    private readonly memberships: MembershipsRepository,
    private readonly logins: LoginsService,
    private readonly addresses: PushAddressesRepository,
    private readonly services: PushServices,
    private readonly metrics: Metrics,
  ) {}

  /** Whether the service has the keys without which nothing is pushed. */
  get isConfigured(): boolean {
    return this.services.publicKey !== null;
  }

  /**
   * Pushes a notice to the browsers of an agent, once each. It takes at most ten seconds.
   * @returns zeros without keys, and for an agent without a login, who is inactive, or whom the workspace
   *   refuses. An address whose encryption key is not configured counts as failed.
   */
  async send(tenantId: string, agentId: string, notice: PushNotice): Promise<PushResult> {
    if (!this.isConfigured) return NONE;
    const personId = await this.memberships.findPersonId(this.database, { tenantId, agentId });
    if (personId === null) return NONE;
    const addresses = await this.addresses.list(personId);
    const opened = await this.logins.listOpened(addresses.map(({ sessionId }) => sessionId));
    const entering = new Set(
      opened
        .filter(({ memberships }) => memberships.some(({ workspace }) => workspace.id === tenantId))
        .map(({ session }) => session.id),
    );
    const reachable = addresses.filter(({ sessionId }) => entering.has(sessionId));
    return this.sendTo(reachable, notice);
  }

  /** Pushes a notice to the browser of a session. Returns whether its push service has taken the notice. */
  async sendToSession(personId: string, sessionId: string, notice: PushNotice): Promise<boolean> {
    const addresses = await this.addresses.list(personId);
    const ofSession = addresses.filter((one) => one.sessionId === sessionId);
    return (await this.sendTo(ofSession, notice)).taken > 0;
  }

  private async sendTo(addresses: SealedAddress[], notice: PushNotice): Promise<PushResult> {
    const outcomes = await Promise.all(addresses.map((address) => this.trySending(address, notice)));
    const sent = (outcome: PushOutcome) => addresses.filter((_, n) => outcomes[n] === outcome);
    for (const address of sent('gone')) await this.addresses.deleteGone(address);
    const taken = sent('taken').map(({ sessionId }) => sessionId);
    if (taken.length > 0) await this.addresses.markTaken(taken);
    return { taken: taken.length, failed: sent('failed').length };
  }

  private async trySending(address: SealedAddress, notice: PushNotice): Promise<PushOutcome> {
    const outcome = await this.post(address, notice);
    this.metrics.noticePushes.inc({ outcome });
    return outcome;
  }

  private async post(address: SealedAddress, notice: PushNotice): Promise<PushOutcome> {
    try {
      const status = await this.services.post(this.addresses.open(address), notice);
      if (status === 404 || status === 410) return 'gone';
      if (status >= 200 && status < 300) return 'taken';
      this.logger.warn({ status }, 'a push service did not take a notice');
    } catch (error) {
      // The message has no more of the address than its host.
      this.logger.warn({ reason: (error as Error).message }, 'a notice was not pushed');
    }
    return 'failed';
  }
}
