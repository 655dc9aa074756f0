import type { Command } from 'commander';
import { AppError } from '../common/app-error';
import type { Services } from './services';

/** Prints one line of JSON for a program, indented JSON for a person. */
export function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result, null, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** Makes a commander action. It loads the services only when it runs, so that help stays fast. */
export function withServices<Options>(
  run: (services: Services, options: Options) => Promise<object>,
): (options: Options) => Promise<void> {
  return async (options) => {
    const { useServices } = await import('./services.js');
    await useServices(async (services) => print(await run(services, options)));
  };
}

interface ListCommand {
  does: string;
  things: string;
  run: (services: Services, tenantId: string) => Promise<object[]>;
}

export function addListCommand(group: Command, { does, things, run }: ListCommand): void {
  group
    .command('list')
    .description(does)
    .requiredOption('--workspace <slug>', 'the workspace')
    .addHelpText(
      'after',
      `\nExample:\n  node dist/cli.js ${group.name()} list --workspace acme\n\nPrints {data: [${things}]}.`,
    )
    .action(
      withServices(async (services, { workspace }: { workspace: string }) => {
        const { id } = await services.workspaces.getBySlug(workspace);
        return { data: await run(services, id) };
      }),
    );
}

/** Refuses an update that changes nothing, and lists its options. */
export function requireChange(_: Command, command: Command): void {
  const changes = command.options.filter(({ mandatory }) => !mandatory);
  if (changes.some((option) => command.getOptionValue(option.attributeName()) !== undefined)) return;
  const names = changes.map(({ long }) => long).join(', ');
  throw new AppError('INVALID_BODY', `Nothing to change: give at least one of ${names}.`);
}
