import { Command } from 'commander';
import type { ParkedEventKey } from '../outbox/parked-events.repository';
import { addCommand, type CommandServices, CommandSpec } from './command';
import { option, required } from './option-values';

interface ParkedOptions {
  workspace: string;
  event: string;
  consumer: string;
}

export function addOutboxCommands(program: Command): void {
  const outbox = program.command('outbox').description('Events that a consumer could not take in.');

  addCommand(outbox, 'parked', {
    does: 'Lists the parked events, oldest first, up to 1,000.',
    options: [option('--workspace <slug>', 'only of this workspace')],
    prints: '{data: [{workspace, eventId, consumer, error, queuedAt, parkedAt, request}]}',
    calls: ['outbox parked --workspace acme'],
    run: async (services, { workspace }: { workspace?: string }) => ({
      data: await listParked(services, workspace),
    }),
  });
  addParkedCommand(outbox, 'retry', {
    does: 'Gives a parked event to its consumer again, within seconds, and to no other.',
    run: ({ parkedEvents, operator }, key) => parkedEvents.retry(key, operator),
  });
  addParkedCommand(outbox, 'give-up', {
    does: 'Drops a parked event for its consumer: an outbound message becomes FAILED, and its conversation goes on.',
    run: ({ parkedEvents, operator }, key) => parkedEvents.giveUp(key, operator),
  });
}

async function listParked(
  { parkedEvents, workspaces, lookup, operator }: CommandServices,
  slug?: string,
): Promise<object[]> {
  const only = slug === undefined ? undefined : await workspaces.getBySlug(slug, operator);
  const parked = await parkedEvents.list(only?.id, operator);
  const slugs = new Map((only ? [only] : await lookup.listWorkspaces()).map((one) => [one.id, one.slug]));
  return parked.map(({ tenantId, ...event }) => ({ workspace: slugs.get(tenantId), ...event }));
}

function addParkedCommand(
  outbox: Command,
  name: string,
  { does, run }: Pick<CommandSpec<[ParkedEventKey]>, 'does' | 'run'>,
): void {
  addCommand(outbox, name, {
    does,
    options: [
      required('--workspace <slug>', 'the workspace'),
      required('--event <id>', 'the event'),
      required('--consumer <name>', 'webhooks or channels'),
    ],
    prints: '{workspace, eventId, consumer, requested: true}; "outbox parked" shows what has come of it',
    calls: [`outbox ${name} --workspace acme --event <id> --consumer channels`],
    run: async (services, { workspace, event: eventId, consumer }: ParkedOptions) => {
      const { id: tenantId } = await services.workspaces.getBySlug(workspace, services.operator);
      await run(services, { tenantId, eventId, consumer });
      return { workspace, eventId, consumer, requested: true };
    },
  });
}
