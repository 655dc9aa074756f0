import { Command } from 'commander';
import { withServices } from './command';

export function addSecretsCommands(program: Command): void {
  const secrets = program
    .command('secrets')
    .description('The secrets of endpoints and channels, as they are stored.');

  secrets
    .command('reencrypt')
    .description('Encrypts every stored secret under the first key of SECRETS_KEYS.')
    .addHelpText(
      'after',
      `
First append the new key and restart every process, so that all can read it; then put it first and restart them
again; then run this. After it, the old key can go.

Example:
  SECRETS_KEYS=new:<base64>,old:<base64> node dist/cli.js secrets reencrypt

Prints {reencrypted}, the number of secrets that were under another key.`,
    )
    .action(withServices(({ keyRotation }) => keyRotation.reencrypt()));
}
