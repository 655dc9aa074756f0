import type { Command, Option } from 'commander';
import { AppError } from '../common/app-error';
import { Operator, operatorOf } from './operator';
import type { LookedUpThing } from './operator-lookup';
import { isoDate, option, required, wholeNumber } from './option-values';
import type { Services } from './services';

export type CommandServices = Services & { operator: Operator };

export interface CommandSpec<Given extends unknown[]> {
  does: string;
  options?: Option[];
  /** Whether a call must have at least one of the options that are not required. */
  needsChange?: boolean;
  note?: string;
  prints: string;
  /** Example calls without the program's name; by default one call with only the required options. */
  calls?: string[];
  /** Returns the object to print; nothing if the command has printed lines itself. */
  run: (services: CommandServices, ...given: Given) => Promise<object | void>;
}

export function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result, null, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** Makes a commander action. It loads the services only when it runs, so that help stays fast. */
export function withServices<Options>(
  run: CommandSpec<[Options]>['run'],
): (options: Options, command: Command) => Promise<void> {
  return async (options, command) => {
    const operator = operatorOf(command);
    const { useServices } = await import('./services.js');
    await useServices(async (services) => {
      const result = await run({ ...services, operator }, options);
      if (result) print(result);
    });
  };
}

export function addCommand<Options>(
  group: Command,
  name: string,
  {
    does,
    options = [],
    needsChange,
    note = '',
    prints,
    calls = [`${group.name()} ${name}`],
    run,
  }: CommandSpec<[Options]>,
): void {
  const command = group.command(name).description(does);
  for (const one of options) command.addOption(one);
  if (needsChange) command.hook('preAction', requireChange);
  command.addHelpText('after', note + example(prints, ...calls));
  command.action(withServices(run));
}

/**
 * Adds a command about one workspace. The option `--workspace` names the workspace by its slug; in the group
 * `workspace`, the option is `--slug`.
 */
export function addWorkspaceCommand<Given extends object>(
  group: Command,
  name: string,
  { options = [], run, ...others }: CommandSpec<[tenantId: string, given: Given]>,
): void {
  const flag = group.name() === 'workspace' ? 'slug' : 'workspace';
  addCommand(group, name, {
    calls: [`${group.name()} ${name} --${flag} acme`],
    ...others,
    options: [required(`--${flag} <slug>`, 'the workspace'), ...options],
    run: async (services, { [flag]: slug, ...given }: Record<string, string>) => {
      const { id } = await services.workspaces.getBySlug(slug!, services.operator);
      return run(services, id, given as Given);
    },
  });
}

/** Adds a command about one thing of any workspace, such as an agent. The option `--id` names the thing. */
export function addThingCommand<Given extends object>(
  group: Command,
  name: string,
  thing: LookedUpThing,
  { options = [], run, ...others }: CommandSpec<[tenantId: string, id: string, given: Given]>,
): void {
  const noun = thing.toLowerCase().split(' ').at(-1);
  addCommand(group, name, {
    calls: [`${group.name()} ${name} --id <id>`],
    ...others,
    options: [required('--id <id>', `the ${noun}`), ...options],
    run: async (services, { id, ...given }: { id: string }) =>
      run(services, await services.lookup.findWorkspaceId(thing, id), id, given as Given),
  });
}

/** Returns the end of a command's help: its output, and example calls without the program's name. */
export function example(prints: string, ...calls: string[]): string {
  const lines = calls.map((call) => `  node dist/cli.js ${call}`);
  return `\nExample${calls.length > 1 ? 's' : ''}:\n${lines.join('\n')}\n\nPrints ${prints}.`;
}

export const PAGE_OF_LIST = [
  option('--limit <n>', 'at most so many, 1 to 200; default 50', wholeNumber),
  option('--cursor <cursor>', 'the nextCursor of the previous page'),
];
export const PAGES = [
  option('--since <date>', 'only from this moment on', isoDate),
  option('--until <date>', 'only before this moment', isoDate),
  ...PAGE_OF_LIST,
];

/** Refuses a call without any option that changes something, and lists these options. */
function requireChange(_: Command, command: Command): void {
  const changes = command.options.filter(({ mandatory }) => !mandatory);
  if (changes.some((change) => command.getOptionValue(change.attributeName()) !== undefined)) return;
  const names = changes.map(({ long }) => long).join(', ');
  throw new AppError('INVALID_BODY', `Nothing to change: give at least one of ${names}.`);
}
