import { CommanderError } from 'commander';
import { AppError } from '../common/app-error';
import type { ConfigError } from '../config/config';

const START_THE_SERVERS =
  'DATABASE_URL is not set, and this folder has no .data/servers.json of running servers. ' +
  'Run "npm start" in another terminal of the same checkout, or set DATABASE_URL and REDIS_URL.';
/** Codes of faults in a webhook endpoint's address that an operator can allow. */
const ALLOWABLE = new Set<string | undefined>(['address_private', 'host_local']);
const UNDEFINED_TABLE = '42P01';
const INSUFFICIENT_PRIVILEGE = '42501';

/** Prints the error on stderr in the API's form, and sets exit code 1. */
export async function reportFailure(error: unknown): Promise<void> {
  if (error instanceof CommanderError && error.exitCode === 0) return; // The command was --help.
  const failure = await toAppError(error);
  process.stderr.write(`${JSON.stringify(failure.toBody(null))}\n`);
  process.exitCode = 1;
}

/** Turns any error into the API's form. The message may show internals, because only an operator reads it. */
async function toAppError(error: unknown): Promise<AppError> {
  if (error instanceof AppError) return nameSetting(error);
  if (error instanceof CommanderError) return new AppError('INVALID_BODY', usageFault(error));
  // The imports are here, so that a wrong option fails as fast as --help.
  const { ConfigError } = await import('../config/config.js');
  const { findLastingFault, isDatabaseAway } = await import('../database/driver/database-errors.js');
  if (error instanceof ConfigError) return fromConfig(error);
  if (codeOf(error) === UNDEFINED_TABLE)
    return new AppError('UNAVAILABLE', 'The database is not migrated: run "migrate" first.');
  if (codeOf(error) === INSUFFICIENT_PRIVILEGE)
    return new AppError(
      'UNAVAILABLE',
      `The database role lacks a privilege: ${textOf(error)}. Run "migrate" as the owner of the tables: DATABASE_OWNER_URL.`,
    );
  const fault = findLastingFault(error) ?? (isDatabaseAway(error) ? 'does not answer' : null);
  if (fault) return new AppError('UNAVAILABLE', `The database ${fault}: ${textOf(error)}.`);
  return new AppError('INTERNAL', textOf(error));
}

/**
 * If a webhook address was refused, adds the setting by which an operator can allow it to the error's text.
 */
function nameSetting(error: AppError): AppError {
  const { code, message, details } = error;
  if (!details?.some((detail) => ALLOWABLE.has(detail.code))) return error;
  const advice = 'WEBHOOK_ALLOWED_NETWORKS can allow it: set it for the service and for this command.';
  return new AppError(code, `${message} ${advice}`, details);
}

/** Returns commander's message. It is replaced if no command is given, because it would be the whole help. */
function usageFault({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A command is missing: see --help.';
  return message.replace(/^error: /, '');
}

function fromConfig({ faults, message }: ConfigError): AppError {
  if (faults.some((fault) => fault.startsWith('DATABASE_URL is not set')))
    return new AppError('UNAVAILABLE', START_THE_SERVERS);
  return new AppError('INTERNAL', message);
}

function textOf(error: unknown): string {
  return (error as Error).message || codeOf(error) || String(error);
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
