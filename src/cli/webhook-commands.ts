import { Command } from 'commander';
import type { EventType } from '../outbox/event-catalog';
import type {
  CreateWebhookEndpoint,
  RollSecret,
  UpdateWebhookEndpoint,
} from '../webhooks/endpoints/webhook-endpoint-input.dto';
import { addThingCommand, addWorkspaceCommand } from './command';
import { addDeliveryCommands, addRecoveryCommands } from './delivery-commands';
import { list, option, orNull, required, wholeNumber } from './option-values';

const ENDPOINT = 'Webhook endpoint';
const ADDRESS = 'https, to a public address or one of WEBHOOK_ALLOWED_NETWORKS';
const CONTEXT = option(
  '--context',
  'sends the conversation, its contact, the sender and the files of the message along',
);

const AUTOMATIC = option(
  '--automatic-recovery',
  'after failures it is tried from time to time, and gets what it has missed',
);

/** Values that an update changes. False, from an option `--no-…`, removes the stored value. */
type UpdateOptions = Pick<UpdateWebhookEndpoint, 'url' | 'events' | 'context' | 'automaticRecovery'> & {
  rateLimit?: number | false;
  name?: string | false;
  description?: string | false;
};

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("A workspace's webhook endpoints.");

  addWorkspaceCommand(webhook, 'create', {
    does: 'Creates an endpoint. Its secret is printed only once.',
    options: [
      required('--url <url>', ADDRESS),
      required('--events <list>', "event names, or '*' for all", list),
      option('--rate-limit <n>', 'deliveries a second; default: no limit', wholeNumber),
      option('--name <name>', 'a name for people'),
      option('--description <text>', 'what it is for'),
      CONTEXT,
      AUTOMATIC,
    ],
    prints: '{id, secret, url, events, active, …}',
    calls: ["webhook create --workspace acme --url https://example.com/hooks --events '*'"],
    run: ({ webhookEndpoints, operator }, tenantId, given: CreateWebhookEndpoint) =>
      webhookEndpoints.create(tenantId, given, operator),
  });
  addThingCommand(webhook, 'update', ENDPOINT, {
    does: 'Edits an endpoint. What it is owed goes to the new address; its secret stays.',
    options: [
      option('--url <url>', ADDRESS),
      option('--events <list>', "event names, or '*' for all", list),
      option('--rate-limit <n>', 'deliveries a second', wholeNumber),
      option('--no-rate-limit', 'no limit'),
      option('--name <name>', 'a name for people'),
      option('--no-name', 'no name'),
      option('--description <text>', 'what it is for'),
      option('--no-description', 'no description'),
      CONTEXT,
      option('--no-context', 'sends events alone'),
      AUTOMATIC,
      option('--no-automatic-recovery', 'people recover what it has missed'),
    ],
    needsChange: true,
    prints: 'the endpoint',
    calls: [
      'webhook update --id <id> --url https://example.com/hooks',
      "webhook update --id <id> --events message.created,conversation.updated --name 'CRM'",
    ],
    run: async ({ webhookEndpoints, operator }, tenantId, id, given: UpdateOptions) => {
      const { rateLimit, name, description, ...others } = given;
      const { version } = await webhookEndpoints.get(tenantId, id, operator);
      const removable = {
        rateLimit: orNull(rateLimit),
        name: orNull(name),
        description: orNull(description),
      };
      return webhookEndpoints.update(tenantId, id, { version, ...others, ...removable }, operator);
    },
  });
  addWorkspaceCommand(webhook, 'list', {
    does: 'Lists the endpoints of a workspace, newest first.',
    prints: '{data: [endpoints]}',
    run: async ({ webhookEndpoints, operator }, tenantId) => ({
      data: await webhookEndpoints.list(tenantId, operator),
    }),
  });
  addThingCommand(webhook, 'activate', ENDPOINT, {
    does: 'Activates an endpoint: it gets the events from now on.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) => webhookEndpoints.activate(tenantId, id, operator),
  });
  addThingCommand(webhook, 'deactivate', ENDPOINT, {
    does: 'Deactivates an endpoint at once, and cancels its pending deliveries.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) =>
      webhookEndpoints.deactivate(tenantId, id, operator),
  });
  addThingCommand(webhook, 'delete', ENDPOINT, {
    does: 'Deletes an endpoint with its secret, and cancels its pending deliveries.',
    prints: '{id, deleted: true}',
    run: async ({ webhookEndpoints, operator }, tenantId, id) => {
      await webhookEndpoints.delete(tenantId, id, operator);
      return { id, deleted: true };
    },
  });
  addThingCommand(webhook, 'test', ENDPOINT, {
    does: 'Sends a test to an endpoint, once, and waits up to 10 s for the response.',
    options: [
      option('--event <event>', 'the example of this event, marked as a test, instead of webhook.test'),
    ],
    prints:
      '{status, elapsedMs, error, …}: the HTTP status or null, milliseconds, the error or null.\n' +
      'Exits with 1 unless the status is 2xx',
    calls: ['webhook test --id <id>', 'webhook test --id <id> --event message.created'],
    run: async ({ webhookTests, operator }, tenantId, id, { event }: { event?: EventType }) => {
      const result =
        event === undefined
          ? await webhookTests.test(tenantId, id, operator)
          : await webhookTests.sendExample(tenantId, id, { event }, operator);
      if (result.error !== null) process.exitCode = 1;
      return result;
    },
  });

  addSecretCommands(webhook);
  addDeliveryCommands(webhook);
  addRecoveryCommands(webhook);
  addThingCommand(webhook, 'health', ENDPOINT, {
    does: 'Shows the health of an endpoint: failing since, last success, the last 24 hours.',
    prints: '{active, failingSince, lastSuccessAt, last24Hours: {pending, succeeded, late, …}}',
    run: ({ endpointStatistics, operator }, tenantId, id) =>
      endpointStatistics.getHealth(tenantId, id, operator),
  });
}

function addSecretCommands(webhook: Command): void {
  addThingCommand(webhook, 'roll-secret', ENDPOINT, {
    does: 'Gives an endpoint a new secret, printed only once. The previous one signs too for a while.',
    options: [
      option(
        '--grace-period-seconds <n>',
        'how long the previous secret signs too, up to 604800 (7 days), 0: not at all; default: 86400 (24 hours)',
        wholeNumber,
      ),
      option(
        '--service-signature <which>',
        'the secret of x-service-signature until then: previous or new; default: previous',
      ),
    ],
    prints: '{id, secret, previousSecretEndsAt, url, …}',
    calls: [
      'webhook roll-secret --id <id>',
      'webhook roll-secret --id <id> --grace-period-seconds 3600 --service-signature new',
    ],
    run: ({ webhookEndpoints, operator }, tenantId, id, given: RollSecret) =>
      webhookEndpoints.rollSecret(tenantId, id, given, operator),
  });
  addThingCommand(webhook, 'end-secret', ENDPOINT, {
    does: 'Ends the secret before the last roll at once, so that only the present one signs.',
    prints: 'the endpoint',
    run: ({ webhookEndpoints, operator }, tenantId, id) =>
      webhookEndpoints.endPreviousSecret(tenantId, id, operator),
  });
}
