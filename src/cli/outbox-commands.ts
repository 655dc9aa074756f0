import { Command } from 'commander';
import type { ParkedEventKey } from '../outbox/parked-events.repository';
import { example, type CommandServices, withServices } from './command';

interface ParkedOptions {
  workspace: string;
  event: string;
  consumer: string;
}

export function addOutboxCommands(program: Command): void {
  const outbox = program.command('outbox').description('Events that a consumer could not take in.');

  outbox
    .command('parked')
    .description('Lists the parked events, oldest first, up to 1,000.')
    .option('--workspace <slug>', 'only of this workspace')
    .addHelpText(
      'after',
      example(
        '{data: [{workspace, eventId, consumer, error, queuedAt, parkedAt, request}]}',
        'outbox parked --workspace acme',
      ),
    )
    .action(
      withServices(async (services, { workspace }: { workspace?: string }) => ({
        data: await listParked(services, workspace),
      })),
    );

  addParkedAction(outbox, 'retry', {
    does: 'Gives a parked event to its consumer again, within seconds, and to no other.',
    run: ({ parkedEvents, operator }, key) => parkedEvents.retry(key, operator),
  });
  addParkedAction(outbox, 'give-up', {
    does: 'Drops a parked event for its consumer: an outbound message becomes FAILED, and its conversation goes on.',
    run: ({ parkedEvents, operator }, key) => parkedEvents.giveUp(key, operator),
  });
}

async function listParked(
  { parkedEvents, workspaces, lookup, operator }: CommandServices,
  slug?: string,
): Promise<object[]> {
  if (slug !== undefined) {
    const { id } = await workspaces.getBySlug(slug, operator);
    return (await parkedEvents.list(id, operator)).map(({ tenantId: _, ...parked }) => ({
      workspace: slug,
      ...parked,
    }));
  }
  const slugs = new Map((await lookup.listWorkspaces()).map((workspace) => [workspace.id, workspace.slug]));
  const parked = await parkedEvents.list(undefined, operator);
  return parked.map(({ tenantId, ...event }) => ({ workspace: slugs.get(tenantId), ...event }));
}

function addParkedAction(
  outbox: Command,
  name: string,
  { does, run }: { does: string; run: (services: CommandServices, key: ParkedEventKey) => Promise<void> },
): void {
  outbox
    .command(name)
    .description(does)
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--event <id>', 'the event')
    .requiredOption('--consumer <name>', 'webhooks or channels')
    .addHelpText(
      'after',
      example(
        '{workspace, eventId, consumer, requested: true}; "outbox parked" shows what has come of it',
        `outbox ${name} --workspace acme --event <id> --consumer channels`,
      ),
    )
    .action(
      withServices(async (services, { workspace, event: eventId, consumer }: ParkedOptions) => {
        const { id: tenantId } = await services.workspaces.getBySlug(workspace, services.operator);
        await run(services, { tenantId, eventId, consumer });
        return { workspace, eventId, consumer, requested: true };
      }),
    );
}
