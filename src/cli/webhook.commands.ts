import { Command } from 'commander';
import { SYSTEM } from '../common/principal';
import type { ListWebhookDeliveriesQuery } from '../webhooks/webhook-delivery.dto';
import { withServices } from './command';
import { list, wholeNumber } from './option-values';
import type { Services } from './services';

interface CreateOptions {
  workspace: string;
  url: string;
  events: string[];
}

interface DeliveriesOptions {
  id: string;
  status?: ListWebhookDeliveriesQuery['status'];
  limit?: number;
  cursor?: string;
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("A workspace's webhook endpoints.");

  webhook
    .command('create')
    .description('Registers an endpoint. Its secret is printed this once and never again.')
    .requiredOption('--workspace <slug>', 'whose endpoint')
    .requiredOption('--url <url>', 'https, to a public address')
    .requiredOption('--events <list>', "event names, or '*' for all", list)
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

  webhook
    .command('list')
    .description('Lists the endpoints of a workspace, newest first.')
    .requiredOption('--workspace <slug>', 'whose endpoints')
    .addHelpText(
      'after',
      '\nExample:\n  node dist/cli.js webhook list --workspace acme\n\nPrints {data: [endpoints]}.',
    )
    .action(
      withServices(async ({ workspaces, webhookEndpoints }, { workspace }: { workspace: string }) => {
        const { id } = await workspaces.getBySlug(workspace);
        return { data: await webhookEndpoints.list(id) };
      }),
    );

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
      "{status, elapsedMs, error}: the receiver's HTTP status or null, milliseconds, what went wrong or null",
    run: ({ webhookTests }, tenantId, id) => webhookTests.test(tenantId, id, SYSTEM),
  });

  webhook
    .command('deliveries')
    .description('Lists what was and is owed to an endpoint, newest first, with every attempt.')
    .requiredOption('--id <id>', 'which endpoint')
    .option('--status <status>', 'pending, succeeded, exhausted or cancelled')
    .option('--limit <n>', 'how many at most, 1 to 200; 50 when left out', wholeNumber)
    .option('--cursor <cursor>', 'the nextCursor of the page before')
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js webhook deliveries --id <id> --status exhausted

Prints {data: [{id, event, status, attempts: [{at, statusCode, durationMs, error}], …}], nextCursor}.`,
    )
    .action(
      withServices(async ({ lookup, webhookDeliveries }, { id, ...query }: DeliveriesOptions) =>
        webhookDeliveries.list(await lookup.tenantOf('Webhook endpoint', id), id, query),
      ),
    );
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
