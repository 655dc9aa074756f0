import { Command } from 'commander';
import { withServices } from './command';

export function addSecretsCommands(program: Command): void {
  const secrets = program
    .command('secrets')
    .description('The stored secrets of endpoints, channels and second factors.');

  secrets
    .command('reencrypt')
    .description('Encrypts every stored secret under the first key of SECRETS_KEYS.')
    .addHelpText(
      'after',
      `
Before: append the new key to SECRETS_KEYS and restart every process, so that all can read it. Then put it first and
restart every process again. Afterwards: remove the old key.

Example:
  SECRETS_KEYS=new:<base64>,old:<base64> node dist/cli.js secrets reencrypt

Prints {reencrypted}, the number of secrets that were under another key.`,
    )
    .action(withServices(({ keyRotation, operator }) => keyRotation.reencrypt(operator)));
}
