import { Command } from 'commander';
import { AppError } from '../common/app-error';
import { SYSTEM } from '../common/principal';
import type { ListWebhookDeliveriesQuery } from '../webhooks/deliveries/webhook-delivery.dto';
import type { RecoverEndpoint } from '../webhooks/recoveries/webhook-recovery.dto';
import { addListCommand, withServices } from './command';
import { isoDate, list, wholeNumber } from './option-values';
import type { Services } from './services';

interface CreateOptions {
  workspace: string;
  url: string;
  events: string[];
  rateLimit?: number;
}

type DeliveriesOptions = Partial<Omit<ListWebhookDeliveriesQuery, 'endpointId'>> & {
  id?: string;
  workspace?: string;
};

interface RecoverOptions extends RecoverEndpoint {
  id: string;
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("A workspace's webhook endpoints.");

  webhook
    .command('create')
    .description('Registers an endpoint. Its secret is printed this once and never again.')
    .requiredOption('--workspace <slug>', 'whose endpoint')
    .requiredOption('--url <url>', 'https, to a public address')
    .requiredOption('--events <list>', "event names, or '*' for all", list)
    .option('--rate-limit <n>', 'deliveries a second; as fast as it goes when left out', wholeNumber)
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js webhook create --workspace acme --url https://example.com/hooks --events '*'

Prints {id, secret, url, events, active, …}.`,
    )
    .action(
      withServices(async ({ workspaces, webhookEndpoints }, { workspace, ...given }: CreateOptions) => {
        const { id } = await workspaces.getBySlug(workspace);
        return webhookEndpoints.create(id, given, SYSTEM);
      }),
    );

  addListCommand(webhook, {
    does: 'Lists the endpoints of a workspace, newest first.',
    things: 'endpoints',
    run: ({ webhookEndpoints }, tenantId) => webhookEndpoints.list(tenantId),
  });

  addEndpointAction(webhook, 'activate', {
    does: 'Lets an endpoint get events again: those that happen from now on.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints }, tenantId, id) => webhookEndpoints.activate(tenantId, id, SYSTEM),
  });
  addEndpointAction(webhook, 'deactivate', {
    does: "Stops an endpoint's deliveries at once; what is pending is cancelled.",
    prints: 'the endpoint',
    run: ({ webhookEndpoints }, tenantId, id) => webhookEndpoints.deactivate(tenantId, id, SYSTEM),
  });
  addEndpointAction(webhook, 'delete', {
    does: 'Deletes an endpoint for good, with its secret; what is pending is cancelled.',
    prints: '{id, deleted: true}',
    run: async ({ webhookEndpoints }, tenantId, id) => {
      await webhookEndpoints.delete(tenantId, id, SYSTEM);
      return { id, deleted: true };
    },
  });
  addEndpointAction(webhook, 'test', {
    does: 'Sends a webhook.test event to an endpoint, once, and waits up to 10 s for its answer.',
    prints:
      "{status, elapsedMs, error}: the receiver's HTTP status or null, milliseconds, what went wrong or null.\n" +
      'Exits with 1 when the receiver did not answer with 2xx',
    run: async ({ webhookTests }, tenantId, id) => {
      const result = await webhookTests.test(tenantId, id, SYSTEM);
      if (result.error !== null) process.exitCode = 1;
      return result;
    },
  });

  addDeliveryCommands(webhook);
  addRecoveryCommands(webhook);
}

function addDeliveryCommands(webhook: Command): void {
  webhook
    .command('deliveries')
    .description(
      'Lists what was and is owed to an endpoint, or to all of a workspace, newest first, with every attempt.',
    )
    .option('--id <id>', 'which endpoint')
    .option('--workspace <slug>', 'or all endpoints of this workspace')
    .option('--event <event>', 'only this event')
    .option('--status <status>', 'pending, succeeded, exhausted or cancelled')
    .option('--since <date>', 'only those of this moment and later', isoDate)
    .option('--until <date>', 'only those before this moment', isoDate)
    .option('--limit <n>', 'how many at most, 1 to 200; 50 when left out', wholeNumber)
    .option('--cursor <cursor>', 'the nextCursor of the page before')
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js webhook deliveries --id <id> --status exhausted --since 2026-11-20

Prints {data: [{id, event, status, attempts: [{at, statusCode, durationMs, error}], …}], nextCursor}.`,
    )
    .action(
      withServices(async (services, { id: endpointId, workspace, ...query }: DeliveriesOptions) =>
        services.webhookDeliveries.list(await ownerOf(services, endpointId, workspace), {
          endpointId,
          ...query,
        }),
      ),
    );

  addDeliveryAction(webhook, 'delivery', {
    does: 'Shows one delivery with all that is known of its attempts: phases and answers too.',
    run: ({ webhookDeliveries }, tenantId, id) => webhookDeliveries.get(tenantId, id),
  });
  addDeliveryAction(webhook, 'redeliver', {
    does: 'Delivers once more, whatever came of it before, with the whole retry schedule.',
    run: ({ webhookDeliveries }, tenantId, id) => webhookDeliveries.redeliver(tenantId, id, SYSTEM),
  });
}

/** Deliveries are named by their workspace too: they are far too many for an index without it. */
function addDeliveryAction(
  webhook: Command,
  name: string,
  { does, run }: Pick<EndpointAction, 'does' | 'run'>,
): void {
  webhook
    .command(name)
    .description(does)
    .requiredOption('--workspace <slug>', 'whose delivery')
    .requiredOption('--id <id>', 'which delivery')
    .addHelpText(
      'after',
      `\nExample:\n  node dist/cli.js webhook ${name} --workspace acme --id <id>\n\nPrints the delivery.`,
    )
    .action(
      withServices(async (services, { workspace, id }: { workspace: string; id: string }) =>
        run(services, (await services.workspaces.getBySlug(workspace)).id, id),
      ),
    );
}

function addRecoveryCommands(webhook: Command): void {
  webhook
    .command('recover')
    .description(
      'Delivers again, in the background, all that an endpoint should have got since a moment and did not.',
    )
    .requiredOption('--id <id>', 'which endpoint')
    .requiredOption('--since <date>', 'from which moment on', isoDate)
    .option('--dry-run', 'only count')
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js webhook recover --id <id> --since 2026-11-20T08:00:00Z --dry-run

Prints {id, status, total, recovered, …}; follow it with "webhook recovery".`,
    )
    .action(
      withServices(async ({ lookup, webhookRecoveries }, { id, ...given }: RecoverOptions) =>
        webhookRecoveries.start(await lookup.tenantOf('Webhook endpoint', id), id, given, SYSTEM),
      ),
    );

  webhook
    .command('recovery')
    .description('Shows how far a recovery is.')
    .requiredOption('--id <id>', 'which recovery')
    .addHelpText(
      'after',
      '\nExample:\n  node dist/cli.js webhook recovery --id <id>\n\nPrints {id, status, total, recovered, finishedAt, …}.',
    )
    .action(
      withServices(async ({ lookup, webhookRecoveries }, { id }: { id: string }) =>
        webhookRecoveries.get(await lookup.tenantOf('Webhook recovery', id), id),
      ),
    );

  addEndpointAction(webhook, 'health', {
    does: 'Shows how an endpoint fares: failing since when, last success, the last 24 hours.',
    prints: '{active, failingSince, lastSuccessAt, last24Hours: {pending, succeeded, exhausted, cancelled}}',
    run: ({ webhookDeliveries }, tenantId, id) => webhookDeliveries.health(tenantId, id),
  });
}

function ownerOf({ lookup, workspaces }: Services, endpointId?: string, workspace?: string): Promise<string> {
  if (endpointId !== undefined) return lookup.tenantOf('Webhook endpoint', endpointId);
  if (workspace !== undefined) return workspaces.getBySlug(workspace).then(({ id }) => id);
  throw AppError.invalidBody('id', 'is required, or a workspace');
}

/** What is done to one endpoint, named by its id. */
interface EndpointAction {
  does: string;
  prints: string;
  run: (services: Services, tenantId: string, id: string) => Promise<object>;
}

function addEndpointAction(webhook: Command, name: string, { does, prints, run }: EndpointAction): void {
  webhook
    .command(name)
    .description(does)
    .requiredOption('--id <id>', 'which endpoint')
    .addHelpText('after', `\nExample:\n  node dist/cli.js webhook ${name} --id <id>\n\nPrints ${prints}.`)
    .action(
      withServices(async (services, { id }: { id: string }) =>
        run(services, await services.lookup.tenantOf('Webhook endpoint', id), id),
      ),
    );
}
