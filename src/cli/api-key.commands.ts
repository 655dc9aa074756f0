import { Command } from 'commander';
import { SYSTEM } from '../common/principal';
import { type Scope, SCOPES } from '../common/scope';
import { addListCommand, example, inWorkspace, withServices } from './command';
import { isoDate, list } from './option-values';

interface CreateOptions {
  workspace: string;
  name: string;
  scopes: Scope[];
  expiresAt?: Date;
}

export function addApiKeyCommands(program: Command): void {
  const apiKey = program.command('api-key').description("A workspace's keys to the REST API.");

  apiKey
    .command('create')
    .description('Creates a key. Its value is printed only once.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--name <name>', 'the purpose of the key')
    .requiredOption('--scopes <list>', SCOPES.join(','), list)
    .option('--expires-at <date>', 'ISO 8601; default: never', isoDate)
    .addHelpText(
      'after',
      example(
        '{id, key, name, preview, scopes, …}',
        'api-key create --workspace acme --name crm --scopes conversations:read,messages:write',
      ),
    )
    .action(
      inWorkspace<CreateOptions>(({ apiKeys }, tenantId, given) => apiKeys.create(tenantId, given, SYSTEM)),
    );

  addListCommand(apiKey, {
    does: 'Lists all keys of a workspace, also revoked ones, newest first.',
    things: 'keys',
    run: ({ apiKeys }, tenantId) => apiKeys.list(tenantId),
  });

  apiKey
    .command('revoke')
    .description('Revokes a key: its next request is refused.')
    .requiredOption('--id <id>', 'the key')
    .addHelpText('after', example('the key', 'api-key revoke --id <id>'))
    .action(
      withServices(async ({ lookup, apiKeys }, { id }: { id: string }) =>
        apiKeys.revoke(await lookup.tenantOf('API key', id), id, SYSTEM),
      ),
    );
}
