import { newId } from '../../../src/common/ids';
import { ParkedEventKey } from '../../../src/outbox/parked-events.repository';
import { ParkedEventsService } from '../../../src/operations/parked-events/parked-events.service';
import { MessagingHost } from '../../support/messaging-host';
import { Subscription } from '../../support/webhook-workspace';
import { Expected, Scenario } from './scenario';

/** Scenarios in which an operator decides about parked events. */
export function parkedEventChanges(host: () => MessagingHost): Record<string, Scenario> {
  async function park({ workspace }: Subscription): Promise<ParkedEventKey> {
    const key = { tenantId: workspace.id, eventId: newId(), consumer: 'webhooks' };
    await host().query(
      `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at) VALUES ($1, $2, $3, 'x', now())`,
      Object.values(key),
    );
    return key;
  }
  const parkedEntry = ({ eventId, consumer }: ParkedEventKey, request: string): Expected => ({
    entity: 'parked_event',
    entityId: eventId,
    before: { request: null },
    after: { request },
    metadata: { consumer },
  });
  return {
    'parked_event.retry_requested': {
      method: 'ParkedEventsService.retry',
      permission: 'parked_event.retry',
      prepare: async (subject, actor) => {
        const key = await park(subject);
        return async () => {
          await host().get(ParkedEventsService).retry(key, actor);
          return parkedEntry(key, 'RETRY');
        };
      },
    },
    'parked_event.give_up_requested': {
      method: 'ParkedEventsService.giveUp',
      permission: 'parked_event.give_up',
      prepare: async (subject, actor) => {
        const key = await park(subject);
        return async () => {
          await host().get(ParkedEventsService).giveUp(key, actor);
          return parkedEntry(key, 'GIVE_UP');
        };
      },
    },
  };
}
