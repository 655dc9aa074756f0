import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Memo } from '../../common/memo';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { isTest, opensAlerts } from '../../outbox/event-catalog';
import { DeactivationReason } from '../endpoints/webhook-endpoint';
import { EndpointHealthRepository, HealthChange } from '../endpoints/endpoint-health.repository';
import { DEACTIVATE_AFTER_MS, EndpointChanges } from '../endpoints/endpoint-changes';
import { AttemptOutcome } from '../sending/attempt-outcome';
import { AttemptRollups } from '../rollups/attempt-rollups';
import { AttemptRecord } from './delivery';
import { EndpointAlerts } from './endpoint-alerts';

const GONE = 410;
/** Milliseconds between two writes of an endpoint's last success, so that most successes need no write. */
const SUCCESS_STEP_MS = 60 * 1000;
const WRITE_EVERY_MS = 500;
const BATCH = 500;
const MAX_REMEMBERED = 10_000;

/**
 * Stores since when endpoints fail and when they last succeeded. One statement writes this for many
 * endpoints. An endpoint that answers with 410 or has failed for days is deactivated.
 */
@Injectable()
export class EndpointHealth implements BeforeApplicationShutdown {
  private readonly logger = new Logger(EndpointHealth.name);
  private readonly succeeded = new Map<string, HealthChange>();
  private readonly failed = new Map<string, HealthChange>();
  /** First successes after failures. */
  private readonly mended = new Map<string, HealthChange>();
  /** Endpoints for which a delivery was given up. */
  private readonly givenUp = new Map<string, HealthChange>();
  /** Starts of failures, by endpoint, for which this process has had the alert opened. */
  private readonly alerted = new Memo<number>(MAX_REMEMBERED);
  private readonly writes = new Periodic(
    WRITE_EVERY_MS,
    () => this.write(),
    (error) => this.logFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly repository: EndpointHealthRepository,
    private readonly endpoints: EndpointChanges,
    private readonly rollups: AttemptRollups,
    private readonly alerts: EndpointAlerts,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.writes.stop();
    await this.write();
  }

  /** Counts an attempt in the statistics, and notes a change of the endpoint's health for the next write. */
  async observe(record: AttemptRecord): Promise<void> {
    const { delivery, outcome } = record;
    const { tenantId, id, url, failingSince, lastSuccessAt, recoveringId } = delivery.endpoint;
    // The statistics and the health of an endpoint leave out tests.
    if (outcome === null || isTest(delivery.event.type)) return;
    this.rollups.observe(delivery.endpoint, outcome, endOf(record));
    const change = { tenantId, id, url, at: outcome.at };
    if (outcome.kind === 'succeeded') {
      const isChange =
        failingSince ||
        recoveringId ||
        !lastSuccessAt ||
        Date.now() - lastSuccessAt.getTime() > SUCCESS_STEP_MS;
      if (isChange) this.note(failingSince ? this.mended : this.succeeded, change);
      return;
    }
    if (!failingSince && this.failed.get(id)?.url !== url) this.note(this.failed, change);
    if (record.status === 'EXHAUSTED' && opensAlerts(delivery.event.type))
      this.noteGivenUp(change, failingSince);
    const reason = reasonToDeactivate(record, outcome);
    if (!reason) return;
    // A success that is not stored yet is stored now, because it prevents the deactivation.
    await this.writeOf(tenantId);
    const wasActive = await this.endpoints.deactivateAfterFailures(delivery.endpoint, reason);
    if (wasActive)
      this.logger.warn({ tenantId, endpointId: id, reason }, 'a webhook endpoint was deactivated');
  }

  private note(changes: Map<string, HealthChange>, change: HealthChange): void {
    changes.set(change.id, change);
    this.writes.runLater();
  }

  /** Notes the first delivery that is given up since an endpoint fails; later ones change nothing. */
  private noteGivenUp(change: HealthChange, failingSince: Date | null): void {
    const since = failingSince?.getTime();
    if (since !== undefined && this.alerted.find(change.id) === since) return;
    if (since !== undefined) this.alerted.set(change.id, since);
    this.note(this.givenUp, change);
  }

  private async writeOf(tenantId: string): Promise<void> {
    const failed = takeChanges(this.failed, tenantId);
    const succeeded = takeChanges(this.succeeded, tenantId);
    const mended = takeChanges(this.mended, tenantId);
    await this.database.placement.forWorkspace(tenantId, async () => {
      for (const change of mended) await this.alerts.endFailing(change);
      if (succeeded.length > 0) await this.repository.markSucceeded(succeeded);
      if (failed.length > 0) await this.repository.markFailing(failed);
    });
  }

  private async write(): Promise<void> {
    const failed = takeChanges(this.failed);
    const succeeded = takeChanges(this.succeeded);
    const mended = takeChanges(this.mended);
    const givenUp = takeChanges(this.givenUp);
    await this.writeEach(mended, (change) => this.alerts.endFailing(change));
    await this.writeAll(succeeded, (batch) => this.repository.markSucceeded(batch).then(() => undefined));
    // Failures are written after the successes, so that a failure before the last success is ignored.
    await this.writeAll(failed, (batch) => this.repository.markFailing(batch));
    await this.writeEach(givenUp, (change) => this.alerts.openFailing(change));
  }

  /** Writes changes one by one, each in the transaction of its alert. */
  private async writeEach(
    changes: HealthChange[],
    write: (change: HealthChange) => Promise<void>,
  ): Promise<void> {
    for (const change of changes) {
      await this.database.placement
        .forWorkspace(change.tenantId, () => write(change))
        .catch((error: Error) => {
          this.alerted.set(change.id, Number.NaN);
          this.logFailure(error);
        });
    }
  }

  private writeAll(changes: HealthChange[], write: (batch: HealthChange[]) => Promise<void>): Promise<void> {
    return this.database.workInBatches(changes, BATCH, write, (error) => this.logFailure(error));
  }

  private logFailure(error: Error): void {
    this.logger.warn({ err: error }, 'the health of endpoints was not written');
  }
}

function takeChanges(changes: Map<string, HealthChange>, tenantId?: string): HealthChange[] {
  const taken = [...changes.values()].filter(
    (change) => tenantId === undefined || change.tenantId === tenantId,
  );
  for (const { id } of taken) changes.delete(id);
  return taken;
}

/**
 * Returns how an attempt ended a delivery. `late`: it succeeded after a failed attempt or by a redelivery.
 * `exhausted`: its last attempt failed. Null if it is pending, or succeeded at its first attempt.
 */
function endOf({ delivery, status }: AttemptRecord): 'late' | 'exhausted' | null {
  if (status === 'EXHAUSTED') return 'exhausted';
  const hasFailed = delivery.attemptCount > 0 || delivery.round > 1;
  return status === 'SUCCEEDED' && hasFailed ? 'late' : null;
}

function reasonToDeactivate(
  { delivery, status }: AttemptRecord,
  { statusCode }: AttemptOutcome,
): DeactivationReason | null {
  if (status !== 'EXHAUSTED') return null;
  if (statusCode === GONE) return 'gone';
  const { failingSince } = delivery.endpoint;
  return failingSince && Date.now() - failingSince.getTime() > DEACTIVATE_AFTER_MS ? 'failing' : null;
}
