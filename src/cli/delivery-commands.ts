import { Command } from 'commander';
import type { ListWebhookDeliveriesQuery } from '../webhooks/browsing/webhook-delivery.dto';
import type { RecoverEndpoint } from '../webhooks/recoveries/webhook-recovery.dto';
import {
  addCommand,
  addThingCommand,
  addWorkspaceCommand,
  CommandServices,
  CommandSpec,
  PAGES,
} from './command';
import { isoDate, option, optionFault, required } from './option-values';

type DeliveriesOptions = Partial<Omit<ListWebhookDeliveriesQuery, 'endpointId'>> & {
  id?: string;
  workspace?: string;
};

export function addDeliveryCommands(webhook: Command): void {
  addCommand(webhook, 'deliveries', {
    does: 'Lists the deliveries of an endpoint or a workspace, newest first, with every attempt.',
    options: [
      option('--id <id>', 'the endpoint'),
      option('--workspace <slug>', 'or all endpoints of this workspace'),
      option('--event <event>', 'only this event'),
      option('--status <status>', 'pending, succeeded, exhausted or cancelled'),
      option('--status-code <code>', 'only this HTTP status of the last attempt, or a class such as 4xx'),
      option('--error <error>', 'only this error of the last attempt, such as timeout'),
      option('--conversation-id <id>', 'only events of this conversation'),
      option('--message-id <id>', 'only the event of this message'),
      ...PAGES,
    ],
    prints: '{data: [{id, event, status, attempts: [{at, statusCode, durationMs, error}], …}], nextCursor}',
    calls: ['webhook deliveries --id <id> --status exhausted --since 2026-11-20'],
    run: async (services, { id: endpointId, workspace, ...query }: DeliveriesOptions) => {
      const tenantId = await findWorkspaceId(services, endpointId, workspace);
      return services.webhookDeliveries.list(tenantId, { endpointId, ...query }, services.operator);
    },
  });
  addDeliveryCommand(webhook, 'delivery', {
    does: 'Shows one delivery with what is sent and all details of its attempts: also phases and responses.',
    run: ({ webhookDeliveries, operator }, tenantId, id) => webhookDeliveries.get(tenantId, id, operator),
  });
  addDeliveryCommand(webhook, 'redeliver', {
    does: 'Delivers again, in any status, with the whole retry schedule.',
    run: ({ webhookDeliveries, operator }, tenantId, id) =>
      webhookDeliveries.redeliver(tenantId, id, operator),
  });
  addDeliveryCommand(webhook, 'retry', {
    does: 'Makes the next attempt of a pending delivery now, instead of at its time.',
    run: ({ webhookDeliveries, operator }, tenantId, id) =>
      webhookDeliveries.retryNow(tenantId, id, operator),
  });
}

/** Adds a command about one delivery. It needs `--workspace`, because no index has only delivery ids. */
function addDeliveryCommand(
  webhook: Command,
  name: string,
  { does, run }: Pick<CommandSpec<[tenantId: string, id: string]>, 'does' | 'run'>,
): void {
  addWorkspaceCommand(webhook, name, {
    does,
    options: [required('--id <id>', 'the delivery')],
    prints: 'the delivery',
    calls: [`webhook ${name} --workspace acme --id <id>`],
    run: (services, tenantId, { id }: { id: string }) => run(services, tenantId, id),
  });
}

export function addRecoveryCommands(webhook: Command): void {
  addThingCommand(webhook, 'recover', 'Webhook endpoint', {
    does: 'Starts a recovery: it delivers, in the background, the events since a moment that an endpoint did not get.',
    options: [required('--since <date>', 'the first moment', isoDate), option('--dry-run', 'only count')],
    prints: '{id, status, total, recovered, …}; follow it with "webhook recovery"',
    calls: ['webhook recover --id <id> --since 2026-11-20T08:00:00Z --dry-run'],
    run: ({ webhookRecoveries, operator }, tenantId, id, given: RecoverEndpoint) =>
      webhookRecoveries.recoverMissed(tenantId, id, given, operator),
  });
  addThingCommand(webhook, 'recovery', 'Webhook recovery', {
    does: 'Shows the progress of a recovery, and how its deliveries ended.',
    prints: '{id, status, total, recovered, pending, succeeded, exhausted, cancelled, …}',
    run: ({ webhookRecoveries, operator }, tenantId, id) => webhookRecoveries.get(tenantId, id, operator),
  });
  addThingCommand(webhook, 'cancel-recovery', 'Webhook recovery', {
    does: 'Ends a running recovery. What it has made pending is still delivered.',
    prints: 'the recovery',
    run: ({ webhookRecoveries, operator }, tenantId, id) => webhookRecoveries.cancel(tenantId, id, operator),
  });
  addThingCommand(webhook, 'automatic-recovery', 'Webhook endpoint', {
    does: 'Shows how an endpoint is recovered automatically, and when it is tried next.',
    prints: '{data: {state, since, probes, nextProbeAt, rounds, …}}; data is null if it has missed nothing',
    run: async ({ automaticRecoveries, operator }, tenantId, id) => ({
      data: await automaticRecoveries.get(tenantId, id, operator),
    }),
  });
  addThingCommand(webhook, 'cancel-automatic-recovery', 'Webhook endpoint', {
    does: 'Ends the automatic recovery of an endpoint at once. Later misses are recovered as before.',
    prints: '{id, cancelled: true}',
    run: async ({ automaticRecoveries, operator }, tenantId, id) => {
      await automaticRecoveries.cancel(tenantId, id, operator);
      return { id, cancelled: true };
    },
  });
}

async function findWorkspaceId(
  { lookup, workspaces, operator }: CommandServices,
  endpointId?: string,
  workspace?: string,
): Promise<string> {
  if (endpointId !== undefined) return lookup.findWorkspaceId('Webhook endpoint', endpointId);
  if (workspace === undefined) throw optionFault('id', 'is required, or a workspace');
  return (await workspaces.getBySlug(workspace, operator)).id;
}
