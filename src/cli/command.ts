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

/** For a command that changes something: whoever gives no change has forgotten it, and is told what there is. */
export function requireChange(_: Command, command: Command): void {
  const changes = command.options.filter(({ mandatory }) => !mandatory);
  if (changes.some((option) => command.getOptionValue(option.attributeName()) !== undefined)) return;
  const names = changes.map(({ long }) => long).join(', ');
  throw new AppError('INVALID_BODY', `Nothing is to change: give at least one of ${names}.`);
}
