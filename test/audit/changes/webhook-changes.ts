import { maskUrls } from '../../../src/audit/masked-urls';
import { SYSTEM } from '../../../src/access/principal';
import { WebhookDeliveriesService } from '../../../src/webhooks/browsing/webhook-deliveries.service';
import { EndpointChanges } from '../../../src/webhooks/endpoints/endpoint-changes';
import { WebhookTestService } from '../../../src/webhooks/testing/webhook-test.service';
import { CONTEXT_PARTS } from '../../../src/webhooks/context/context-parts';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { AutomaticRecoveriesService } from '../../../src/webhooks/recoveries/automatic-recoveries.service';
import { WebhookRecoveriesService } from '../../../src/webhooks/recoveries/webhook-recoveries.service';
import { MessagingHost } from '../../support/messaging-host';
import { insertPendingDeliveries } from '../../support/stored-deliveries';
import { Subscription } from '../../support/webhook-workspace';
import { Expected, Scenario } from './scenario';

/** Scenarios that change webhook endpoints, their recoveries and their deliveries. */
export function webhookChanges(host: () => MessagingHost): Record<string, Scenario> {
  const endpoints = () => host().get(WebhookEndpointsService);
  const rolledValues = (before: Date | null, after: Date | null) => ({
    before: { previousSecretEndsAt: before && before.toISOString() },
    after: { previousSecretEndsAt: after && after.toISOString() },
  });

  const endpointEntry = ({ endpoint }: Subscription, expected: Partial<Expected> = {}): Expected => ({
    entity: 'webhook_endpoint',
    entityId: endpoint.id,
    ...expected,
    metadata: { url: maskUrls(endpoint.url), ...expected.metadata },
  });
  return {
    'webhook_endpoint.created': {
      method: 'WebhookEndpointsService.create',
      permission: 'webhook_endpoint.create',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const url = 'https://127.0.0.1:9999/second/cApAbIlItY';
          const events = ['message.created'];
          const { id } = await endpoints().create(workspace.id, { url, events }, actor);
          const after = {
            url: maskUrls(url),
            events,
            context: null,
            rateLimit: null,
            name: null,
            description: null,
            automaticRecovery: false,
            active: true,
          };
          return { entity: 'webhook_endpoint', entityId: id, after };
        },
    },
    'webhook_endpoint.updated': {
      method: 'WebhookEndpointsService.update',
      permission: 'webhook_endpoint.update',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const url = 'https://127.0.0.1:9999/other/cApAbIlItY';
        const after = { url, events: ['conversation.updated'], rateLimit: 7, name: 'CRM' };
        const changes = { version: 1, context: true, ...after };
        await endpoints().update(workspace.id, endpoint.id, changes, actor);
        return endpointEntry(subject, {
          before: {
            url: maskUrls(endpoint.url),
            events: endpoint.events,
            context: null,
            rateLimit: null,
            name: null,
          },
          after: { ...after, context: CONTEXT_PARTS, url: maskUrls(url) },
        });
      },
    },
    'webhook_endpoint.deactivated': {
      method: 'WebhookEndpointsService.deactivate',
      permission: 'webhook_endpoint.deactivate',
      prepare: (subject, actor) => async () => {
        await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, actor);
        return endpointEntry(subject, { before: { active: true }, after: { active: false } });
      },
    },
    'webhook_endpoint.deactivated, being gone': {
      method: 'WebhookEndpointsService.deactivate',
      permission: null,
      isAutomatic: true,
      prepare: (subject) => async () => {
        const { id, url } = subject.endpoint;
        const target = { tenantId: subject.workspace.id, id, url };
        await host().get(EndpointChanges).deactivateAfterFailures(target, 'gone');
        const changed = { before: { active: true }, after: { active: false } };
        return endpointEntry(subject, { ...changed, metadata: { reason: 'gone' } });
      },
    },
    'webhook_endpoint.activated': {
      method: 'WebhookEndpointsService.activate',
      permission: 'webhook_endpoint.activate',
      prepare: async (subject, actor) => {
        await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, SYSTEM);
        return async () => {
          await endpoints().activate(subject.workspace.id, subject.endpoint.id, actor);
          return endpointEntry(subject, { before: { active: false }, after: { active: true } });
        };
      },
    },
    'webhook_endpoint.deleted': {
      method: 'WebhookEndpointsService.delete',
      permission: 'webhook_endpoint.delete',
      prepare: (subject, actor) => async () => {
        await endpoints().delete(subject.workspace.id, subject.endpoint.id, actor);
        const { url, events, rateLimit, name, description } = subject.endpoint;
        const settings = { url: maskUrls(url), events, context: null, rateLimit, name, description };
        const before = { ...settings, automaticRecovery: false, active: true };
        return endpointEntry(subject, { before });
      },
    },
    'webhook_endpoint.secret_rolled': {
      method: 'WebhookEndpointsService.rollSecret',
      permission: 'webhook_endpoint.roll_secret',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const input = { serviceSignature: 'new' as const };
        const { previousSecretEndsAt } = await endpoints().rollSecret(
          workspace.id,
          endpoint.id,
          input,
          actor,
        );
        return endpointEntry(subject, { ...rolledValues(null, previousSecretEndsAt), metadata: input });
      },
    },
    'webhook_endpoint.previous_secret_ended': {
      method: 'WebhookEndpointsService.endPreviousSecret',
      permission: 'webhook_endpoint.roll_secret',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        const { previousSecretEndsAt } = await endpoints().rollSecret(workspace.id, endpoint.id, {}, SYSTEM);
        return async () => {
          await endpoints().endPreviousSecret(workspace.id, endpoint.id, actor);
          return endpointEntry(subject, rolledValues(previousSecretEndsAt, null));
        };
      },
    },
    'webhook_endpoint.tested': {
      method: 'WebhookTestService.test',
      permission: 'webhook_endpoint.test',
      prepare: (subject, actor) => async () => {
        await host().get(WebhookTestService).test(subject.workspace.id, subject.endpoint.id, actor);
        return endpointEntry(subject);
      },
    },
    'webhook_endpoint.tested, with an example': {
      method: 'WebhookTestService.sendExample',
      permission: 'webhook_endpoint.test',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const input = { event: 'message.created' as const };
        await host().get(WebhookTestService).sendExample(workspace.id, endpoint.id, input, actor);
        return endpointEntry(subject, {
          metadata: { event: 'message.created', bodySha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        });
      },
    },
    'webhook_endpoint.recovery_started': {
      method: 'WebhookRecoveriesService.recoverMissed',
      permission: 'webhook_endpoint.recover',
      prepare: (subject, actor) => async () => {
        const since = new Date();
        const { workspace, endpoint } = subject;
        const recoveries = host().get(WebhookRecoveriesService);
        const { id, total } = await recoveries.recoverMissed(workspace.id, endpoint.id, { since }, actor);
        return endpointEntry(subject, { metadata: { recoveryId: id, since: since.toISOString(), total } });
      },
    },
    'webhook_endpoint.redelivery_started': {
      method: 'WebhookRecoveriesService.redeliverMatching',
      permission: 'webhook_delivery.redeliver',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const recoveries = host().get(WebhookRecoveriesService);
        const filter = { endpointId: endpoint.id, status: 'exhausted' as const, statusCode: '5xx' };
        const { id, total } = await recoveries.redeliverMatching(workspace.id, filter, {}, actor);
        return endpointEntry(subject, { metadata: { recoveryId: id, filter, total } });
      },
    },
    'webhook_endpoint.recovery_cancelled': {
      method: 'WebhookRecoveriesService.cancel',
      permission: 'webhook_endpoint.recover',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        const recoveries = host().get(WebhookRecoveriesService);
        const { id } = await recoveries.recoverMissed(
          workspace.id,
          endpoint.id,
          { since: new Date(0) },
          SYSTEM,
        );
        return async () => {
          await recoveries.cancel(workspace.id, id!, actor);
          return endpointEntry(subject, { metadata: { recoveryId: id, recovered: 0 } });
        };
      },
    },
    'webhook_endpoint.recovery_cancelled, being automatic': {
      method: 'AutomaticRecoveriesService.cancel',
      permission: 'webhook_endpoint.recover',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        const since = new Date();
        await endpoints().update(workspace.id, endpoint.id, { automaticRecovery: true }, SYSTEM);
        await host().query(
          `INSERT INTO automatic_recoveries (tenant_id, endpoint_id, state, since, misses, created_at)
           VALUES ($1, $2, 'STOPPED', $3, 1, now())`,
          [workspace.id, endpoint.id, since],
        );
        return async () => {
          await host().get(AutomaticRecoveriesService).cancel(workspace.id, endpoint.id, actor);
          const metadata = { automatic: true, since: since.toISOString(), rounds: 0 };
          return endpointEntry(subject, { metadata });
        };
      },
    },
    'webhook_delivery.redelivered': {
      method: 'WebhookDeliveriesService.redeliver',
      permission: 'webhook_delivery.redeliver',
      prepare: async ({ workspace, endpoint }, actor) => {
        await host().get(WebhookTestService).test(workspace.id, endpoint.id, SYSTEM);
        const deliveries = host().get(WebhookDeliveriesService);
        const [delivery] = (await deliveries.list(workspace.id, {}, SYSTEM)).data;
        return async () => {
          await deliveries.redeliver(workspace.id, delivery!.id, actor);
          const metadata = { endpointId: endpoint.id, event: 'webhook.test' };
          return { entity: 'webhook_delivery', entityId: delivery!.id, metadata };
        };
      },
    },
    'webhook_delivery.brought_forward': {
      method: 'WebhookDeliveriesService.retryNow',
      permission: 'webhook_delivery.redeliver',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        await insertPendingDeliveries(host(), subject);
        const deliveries = host().get(WebhookDeliveriesService);
        const [delivery] = (await deliveries.list(workspace.id, {}, SYSTEM)).data;
        return async () => {
          await deliveries.retryNow(workspace.id, delivery!.id, actor);
          const metadata = { endpointId: endpoint.id, event: 'message.created' };
          return { entity: 'webhook_delivery', entityId: delivery!.id, metadata };
        };
      },
    },
  };
}
