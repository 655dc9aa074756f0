import { userInfo } from 'node:os';
import { Command, Option } from 'commander';
import { Actor } from '../access/principal';

/** Person who runs the CLI, by name: the actor of the CLI's commands. */
export type Operator = Extract<Actor, { type: 'operator' }>;

/** Makes the option that names the person who runs the CLI. Only the audit log uses the name. */
export function operatorOption(): Option {
  return new Option(
    '--operator <name>',
    'who you are, for the audit log; default: the user of this system',
  ).env('OPERATOR');
}

export function operatorOf(command: Command): Operator {
  const { operator } = command.optsWithGlobals<{ operator?: string }>();
  return { type: 'operator', name: operator ?? systemUser() };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // The user's id is used, because a container may run as a user without a name.
    return `uid ${process.getuid?.()}`;
  }
}
