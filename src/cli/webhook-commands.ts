import { Command } from 'commander';
import type { EventType } from '../outbox/event-catalog';
import type { ListWebhookDeliveriesQuery } from '../webhooks/browsing/webhook-delivery.dto';
import type { RollSecret } from '../webhooks/endpoints/webhook-endpoint.dto';
import type { RecoverEndpoint } from '../webhooks/recoveries/webhook-recovery.dto';
import {
  addListCommand,
  example,
  inWorkspace,
  requireChange,
  type CommandServices,
  withPages,
  withServices,
} from './command';
import { optionFault } from './option-fault';
import { isoDate, list, wholeNumber } from './option-values';

const ADDRESS = 'https, to a public address or one of WEBHOOK_ALLOWED_NETWORKS';

interface CreateOptions {
  workspace: string;
  url: string;
  events: string[];
  rateLimit?: number;
  name?: string;
  description?: string;
  context?: boolean;
}

interface UpdateOptions {
  id: string;
  url?: string;
  events?: string[];
  rateLimit?: number | false;
  name?: string | false;
  description?: string | false;
  context?: boolean;
}

type DeliveriesOptions = Partial<Omit<ListWebhookDeliveriesQuery, 'endpointId'>> & {
  id?: string;
  workspace?: string;
};

interface RollSecretOptions extends RollSecret {
  id: string;
}

interface RecoverOptions extends RecoverEndpoint {
  id: string;
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("A workspace's webhook endpoints.");

  webhook
    .command('create')
    .description('Creates an endpoint. Its secret is printed only once.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--url <url>', ADDRESS)
    .requiredOption('--events <list>', "event names, or '*' for all", list)
    .option('--rate-limit <n>', 'deliveries a second; default: no limit', wholeNumber)
    .option('--name <name>', 'a name for people')
    .option('--description <text>', 'what it is for')
    .option('--context', 'sends the conversation, its contact and the sender along')
    .addHelpText(
      'after',
      example(
        '{id, secret, url, events, active, …}',
        "webhook create --workspace acme --url https://example.com/hooks --events '*'",
      ),
    )
    .action(
      inWorkspace<CreateOptions>(({ webhookEndpoints, operator }, tenantId, given) =>
        webhookEndpoints.create(tenantId, given, operator),
      ),
    );

  webhook
    .command('update')
    .description('Edits an endpoint. What it is owed goes to the new address; its secret stays.')
    .requiredOption('--id <id>', 'the endpoint')
    .option('--url <url>', ADDRESS)
    .option('--events <list>', "event names, or '*' for all", list)
    .option('--rate-limit <n>', 'deliveries a second', wholeNumber)
    .option('--no-rate-limit', 'no limit')
    .option('--name <name>', 'a name for people')
    .option('--no-name', 'no name')
    .option('--description <text>', 'what it is for')
    .option('--no-description', 'no description')
    .option('--context', 'sends the conversation, its contact and the sender along')
    .option('--no-context', 'sends events alone')
    .hook('preAction', requireChange)
    .addHelpText(
      'after',
      example(
        'the endpoint',
        'webhook update --id <id> --url https://example.com/hooks',
        "webhook update --id <id> --events message.created,conversation.updated --name 'CRM'",
      ),
    )
    .action(
      withServices(async ({ lookup, webhookEndpoints, operator }, options: UpdateOptions) => {
        const { id, rateLimit, name, description, ...others } = options;
        const tenantId = await lookup.findWorkspaceId('Webhook endpoint', id);
        const { version } = await webhookEndpoints.get(tenantId, id, operator);
        const changes = {
          ...others,
          rateLimit: rateLimit === false ? null : rateLimit,
          name: name === false ? null : name,
          description: description === false ? null : description,
        };
        return webhookEndpoints.update(tenantId, id, { version, ...changes }, operator);
      }),
    );

  addListCommand(webhook, {
    does: 'Lists the endpoints of a workspace, newest first.',
    things: 'endpoints',
    run: ({ webhookEndpoints, operator }, tenantId) => webhookEndpoints.list(tenantId, operator),
  });

  addEndpointAction(webhook, 'activate', {
    does: 'Activates an endpoint: it gets the events from now on.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) => webhookEndpoints.activate(tenantId, id, operator),
  });
  addEndpointAction(webhook, 'deactivate', {
    does: 'Deactivates an endpoint at once, and cancels its pending deliveries.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) =>
      webhookEndpoints.deactivate(tenantId, id, operator),
  });
  addEndpointAction(webhook, 'delete', {
    does: 'Deletes an endpoint with its secret, and cancels its pending deliveries.',
    prints: '{id, deleted: true}',
    run: async ({ webhookEndpoints, operator }, tenantId, id) => {
      await webhookEndpoints.delete(tenantId, id, operator);
      return { id, deleted: true };
    },
  });
  webhook
    .command('test')
    .description('Sends a test to an endpoint, once, and waits up to 10 s for the response.')
    .requiredOption('--id <id>', 'the endpoint')
    .option('--event <event>', 'the example of this event, marked as a test, instead of webhook.test')
    .addHelpText(
      'after',
      example(
        '{status, elapsedMs, error, …}: the HTTP status or null, milliseconds, the error or null.\n' +
          'Exits with 1 unless the status is 2xx',
        'webhook test --id <id>',
        'webhook test --id <id> --event message.created',
      ),
    )
    .action(
      withServices(
        async ({ lookup, webhookTests, operator }, { id, event }: { id: string; event?: EventType }) => {
          const tenantId = await lookup.findWorkspaceId('Webhook endpoint', id);
          const result =
            event === undefined
              ? await webhookTests.test(tenantId, id, operator)
              : await webhookTests.sendExample(tenantId, id, { event }, operator);
          if (result.error !== null) process.exitCode = 1;
          return result;
        },
      ),
    );

  addSecretCommands(webhook);
  addDeliveryCommands(webhook);
  addRecoveryCommands(webhook);
}

function addSecretCommands(webhook: Command): void {
  webhook
    .command('roll-secret')
    .description('Gives an endpoint a new secret, printed only once. The previous one signs too for a while.')
    .requiredOption('--id <id>', 'the endpoint')
    .option(
      '--grace-period-seconds <n>',
      'how long the previous secret signs too, up to 604800 (7 days), 0: not at all; default: 86400 (24 hours)',
      wholeNumber,
    )
    .option(
      '--service-signature <which>',
      'the secret of x-service-signature until then: previous or new; default: previous',
    )
    .addHelpText(
      'after',
      example(
        '{id, secret, previousSecretEndsAt, url, …}',
        'webhook roll-secret --id <id>',
        'webhook roll-secret --id <id> --grace-period-seconds 3600 --service-signature new',
      ),
    )
    .action(
      withServices(async ({ lookup, webhookEndpoints, operator }, { id, ...given }: RollSecretOptions) =>
        webhookEndpoints.rollSecret(
          await lookup.findWorkspaceId('Webhook endpoint', id),
          id,
          given,
          operator,
        ),
      ),
    );
  addEndpointAction(webhook, 'end-secret', {
    does: 'Ends the secret before the last roll at once, so that only the present one signs.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) =>
      webhookEndpoints.endPreviousSecret(tenantId, id, operator),
  });
}

function addDeliveryCommands(webhook: Command): void {
  const deliveries = webhook
    .command('deliveries')
    .description('Lists the deliveries of an endpoint or a workspace, newest first, with every attempt.')
    .option('--id <id>', 'the endpoint')
    .option('--workspace <slug>', 'or all endpoints of this workspace')
    .option('--event <event>', 'only this event')
    .option('--status <status>', 'pending, succeeded, exhausted or cancelled')
    .option('--status-code <code>', 'only this HTTP status of the last attempt, or a class such as 4xx')
    .option('--error <error>', 'only this error of the last attempt, such as timeout')
    .option('--conversation-id <id>', 'only events of this conversation')
    .option('--message-id <id>', 'only the event of this message');
  withPages(deliveries)
    .addHelpText(
      'after',
      example(
        '{data: [{id, event, status, attempts: [{at, statusCode, durationMs, error}], …}], nextCursor}',
        'webhook deliveries --id <id> --status exhausted --since 2026-11-20',
      ),
    )
    .action(
      withServices(async (services, { id: endpointId, workspace, ...query }: DeliveriesOptions) =>
        services.webhookDeliveries.list(
          await findWorkspaceId(services, endpointId, workspace),
          { endpointId, ...query },
          services.operator,
        ),
      ),
    );

  addDeliveryAction(webhook, 'delivery', {
    does: 'Shows one delivery with what is sent and all details of its attempts: also phases and responses.',
    run: ({ webhookDeliveries, operator }, tenantId, id) => webhookDeliveries.get(tenantId, id, operator),
  });
  addDeliveryAction(webhook, 'redeliver', {
    does: 'Delivers again, in any status, with the whole retry schedule.',
    run: ({ webhookDeliveries, operator }, tenantId, id) =>
      webhookDeliveries.redeliver(tenantId, id, operator),
  });
  addDeliveryAction(webhook, 'retry', {
    does: 'Makes the next attempt of a pending delivery now, instead of at its time.',
    run: ({ webhookDeliveries, operator }, tenantId, id) =>
      webhookDeliveries.retryNow(tenantId, id, operator),
  });
}

/**
 * Adds a command about one delivery, which needs `--workspace` too: an index on the id alone would be too
 * large.
 */
function addDeliveryAction(
  webhook: Command,
  name: string,
  { does, run }: Pick<EndpointAction, 'does' | 'run'>,
): void {
  webhook
    .command(name)
    .description(does)
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--id <id>', 'the delivery')
    .addHelpText('after', example('the delivery', `webhook ${name} --workspace acme --id <id>`))
    .action(
      inWorkspace<{ workspace: string; id: string }>((services, tenantId, { id }) =>
        run(services, tenantId, id),
      ),
    );
}

function addRecoveryCommands(webhook: Command): void {
  webhook
    .command('recover')
    .description(
      'Starts a recovery: it delivers, in the background, the events since a moment that an endpoint did not get.',
    )
    .requiredOption('--id <id>', 'the endpoint')
    .requiredOption('--since <date>', 'the first moment', isoDate)
    .option('--dry-run', 'only count')
    .addHelpText(
      'after',
      example(
        '{id, status, total, recovered, …}; follow it with "webhook recovery"',
        'webhook recover --id <id> --since 2026-11-20T08:00:00Z --dry-run',
      ),
    )
    .action(
      withServices(async ({ lookup, webhookRecoveries, operator }, { id, ...given }: RecoverOptions) =>
        webhookRecoveries.recoverMissed(
          await lookup.findWorkspaceId('Webhook endpoint', id),
          id,
          given,
          operator,
        ),
      ),
    );

  webhook
    .command('recovery')
    .description('Shows the progress of a recovery, and how its deliveries ended.')
    .requiredOption('--id <id>', 'the recovery')
    .addHelpText(
      'after',
      example(
        '{id, status, total, recovered, pending, succeeded, exhausted, cancelled, …}',
        'webhook recovery --id <id>',
      ),
    )
    .action(
      withServices(async ({ lookup, webhookRecoveries, operator }, { id }: { id: string }) =>
        webhookRecoveries.get(await lookup.findWorkspaceId('Webhook recovery', id), id, operator),
      ),
    );

  webhook
    .command('cancel-recovery')
    .description('Ends a running recovery. What it has made pending is still delivered.')
    .requiredOption('--id <id>', 'the recovery')
    .addHelpText('after', example('the recovery', 'webhook cancel-recovery --id <id>'))
    .action(
      withServices(async ({ lookup, webhookRecoveries, operator }, { id }: { id: string }) =>
        webhookRecoveries.cancel(await lookup.findWorkspaceId('Webhook recovery', id), id, operator),
      ),
    );

  addEndpointAction(webhook, 'health', {
    does: 'Shows the health of an endpoint: failing since, last success, the last 24 hours.',
    prints: '{active, failingSince, lastSuccessAt, last24Hours: {pending, succeeded, late, …}}',
    run: ({ endpointStatistics, operator }, tenantId, id) =>
      endpointStatistics.getHealth(tenantId, id, operator),
  });
}

function findWorkspaceId(
  { lookup, workspaces, operator }: CommandServices,
  endpointId?: string,
  workspace?: string,
): Promise<string> {
  if (endpointId !== undefined) return lookup.findWorkspaceId('Webhook endpoint', endpointId);
  if (workspace !== undefined) return workspaces.getBySlug(workspace, operator).then(({ id }) => id);
  throw optionFault('id', 'is required, or a workspace');
}

interface EndpointAction {
  does: string;
  prints: string;
  run: (services: CommandServices, tenantId: string, id: string) => Promise<object>;
}

function addEndpointAction(webhook: Command, name: string, { does, prints, run }: EndpointAction): void {
  webhook
    .command(name)
    .description(does)
    .requiredOption('--id <id>', 'the endpoint')
    .addHelpText('after', example(prints, `webhook ${name} --id <id>`))
    .action(
      withServices(async (services, { id }: { id: string }) =>
        run(services, await services.lookup.findWorkspaceId('Webhook endpoint', id), id),
      ),
    );
}
