import type { Command } from 'commander';
import { AppError } from '../common/app-error';
import { Operator, operatorOf } from './operator';
import { isoDate, wholeNumber } from './option-values';
import type { Services } from './services';

/** Objects that a command works with: the services, and the operator as the actor of its changes. */
export type CommandServices = Services & { operator: Operator };

/** Prints one line of JSON for a program, indented JSON for a person. */
export function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result, null, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** Makes a commander action. It loads the services only when it runs, so that help stays fast. */
export function withServices<Options>(
  run: (services: CommandServices, options: Options) => Promise<object>,
): (options: Options, command: Command) => Promise<void> {
  return async (options, command) => {
    const operator = operatorOf(command);
    const { useServices } = await import('./services.js');
    await useServices(async (services) => print(await run({ ...services, operator }, options)));
  };
}

/** Makes a commander action for a command with `--workspace` whose `write` prints its own lines. */
export function writingInWorkspace<Options extends { workspace: string }>(
  write: (services: CommandServices, tenantId: string, options: Omit<Options, 'workspace'>) => Promise<void>,
): (options: Options, command: Command) => Promise<void> {
  return async ({ workspace, ...options }, command) => {
    const operator = operatorOf(command);
    const { useServices } = await import('./services.js');
    await useServices(async (services) => {
      const { id } = await services.workspaces.getBySlug(workspace, operator);
      await write({ ...services, operator }, id, options);
    });
  };
}

/** Makes a commander action for a command with `--workspace`. It prints what `run` returns. */
export function inWorkspace<Options extends { workspace: string }>(
  run: (services: CommandServices, tenantId: string, options: Omit<Options, 'workspace'>) => Promise<object>,
): (options: Options, command: Command) => Promise<void> {
  return withServices(async (services, { workspace, ...options }: Options) => {
    const { id } = await services.workspaces.getBySlug(workspace, services.operator);
    return run(services, id, options);
  });
}

/**
 * Formats the end of a command's help: examples of calls, given without the program's name, and what they
 * print.
 */
export function example(prints: string, ...calls: string[]): string {
  const lines = calls.map((call) => `  node dist/cli.js ${call}`);
  return `\nExample${calls.length > 1 ? 's' : ''}:\n${lines.join('\n')}\n\nPrints ${prints}.`;
}

interface ListCommand {
  does: string;
  things: string;
  run: (services: CommandServices, tenantId: string) => Promise<object[]>;
}

export function addListCommand(group: Command, { does, things, run }: ListCommand): void {
  group
    .command('list')
    .description(does)
    .requiredOption('--workspace <slug>', 'the workspace')
    .addHelpText('after', example(`{data: [${things}]}`, `${group.name()} list --workspace acme`))
    .action(inWorkspace(async (services, tenantId) => ({ data: await run(services, tenantId) })));
}

/** Adds the options of a list with pages: a time range, the limit and the cursor. */
export function withPages(command: Command): Command {
  return command
    .option('--since <date>', 'only from this moment on', isoDate)
    .option('--until <date>', 'only before this moment', isoDate)
    .option('--limit <n>', 'at most so many, 1 to 200; default 50', wholeNumber)
    .option('--cursor <cursor>', 'the nextCursor of the previous page');
}

/** Refuses an update without any option, and lists its options. */
export function requireChange(_: Command, command: Command): void {
  const changes = command.options.filter(({ mandatory }) => !mandatory);
  if (changes.some((option) => command.getOptionValue(option.attributeName()) !== undefined)) return;
  const names = changes.map(({ long }) => long).join(', ');
  throw new AppError('INVALID_BODY', `Nothing to change: give at least one of ${names}.`);
}
