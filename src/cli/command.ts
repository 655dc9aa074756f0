import type { Command } from 'commander';
import { AppError } from '../common/app-error';
import type { Services } from './services';

/** Prints a command's one answer. */
export function print(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer, null, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** Makes a commander action of what a command does with the services; they are loaded only now. */
export function withServices<Options>(
  run: (services: Services, options: Options) => Promise<object>,
): (options: Options) => Promise<void> {
  return async (options) => {
    const { useServices } = await import('./services.js');
    await useServices(async (services) => print(await run(services, options)));
  };
}

/** What a workspace has several of. */
interface Listed {
  does: string;
  things: string;
  run: (services: Services, tenantId: string) => Promise<object[]>;
}

/** Adds `list` to the commands for one kind of thing. */
export function addListCommand(group: Command, { does, things, run }: Listed): void {
  group
    .command('list')
    .description(does)
    .requiredOption('--workspace <slug>', `whose ${things}`)
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

/** For a command that changes something: whoever gives no change has forgotten it, and is told what there is. */
export function requireChange(_: Command, command: Command): void {
  const changes = command.options.filter(({ mandatory }) => !mandatory);
  if (changes.some((option) => command.getOptionValue(option.attributeName()) !== undefined)) return;
  const names = changes.map(({ long }) => long).join(', ');
  throw new AppError('INVALID_BODY', `Nothing is to change: give at least one of ${names}.`);
}
