import { Command } from 'commander';
import { type Scope, SCOPES } from '../common/permissions';
import { example, inWorkspace, withServices } from './command';
import { isoDate, list, wholeNumber } from './option-values';

interface CreateOptions {
  workspace: string;
  name: string;
  scopes: Scope[];
  expiresAt?: Date;
  allowedNetworks?: string[];
}

interface ListOptions {
  workspace: string;
  unused?: number;
}

export function addApiKeyCommands(program: Command): void {
  const apiKey = program.command('api-key').description("A workspace's keys to the REST API.");

  apiKey
    .command('create')
    .description('Creates a key. Its value is printed only once.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--name <name>', 'the purpose of the key')
    .requiredOption('--scopes <list>', SCOPES.join(','), list)
    .option('--expires-at <date>', 'ISO 8601; default: the longest life allowed, or never', isoDate)
    .option('--allowed-networks <list>', 'CIDR networks; default: everywhere', list)
    .addHelpText(
      'after',
      example(
        '{id, key, name, preview, scopes, …}',
        'api-key create --workspace acme --name crm --scopes conversations:read,messages:write',
      ),
    )
    .action(
      inWorkspace<CreateOptions>(({ apiKeys, operator }, tenantId, given) =>
        apiKeys.create(tenantId, given, operator),
      ),
    );

  apiKey
    .command('list')
    .description('Lists all keys of a workspace, also revoked ones, newest first.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .option('--unused <days>', 'only those that still work and were not used for so many days', wholeNumber)
    .addHelpText('after', example('{data: [keys]}', 'api-key list --workspace acme --unused 90'))
    .action(
      inWorkspace<ListOptions>(async ({ apiKeys, operator }, tenantId, { unused: unusedForDays }) => ({
        data: await apiKeys.list(tenantId, { unusedForDays }, operator),
      })),
    );

  apiKey
    .command('revoke')
    .description('Revokes a key: its next request is refused.')
    .requiredOption('--id <id>', 'the key')
    .addHelpText('after', example('the key', 'api-key revoke --id <id>'))
    .action(
      withServices(async ({ lookup, apiKeys, operator }, { id }: { id: string }) =>
        apiKeys.revoke(await lookup.findWorkspaceId('API key', id), id, operator),
      ),
    );

  apiKey
    .command('revoke-all')
    .description('Revokes all keys that an agent has created, such as one that was deactivated.')
    .requiredOption('--agent <id>', 'the agent')
    .addHelpText('after', example('{data: [revoked keys]}', 'api-key revoke-all --agent <id>'))
    .action(
      withServices(async ({ lookup, apiKeys, operator }, { agent }: { agent: string }) => ({
        data: await apiKeys.revokeByCreator(await lookup.findWorkspaceId('Agent', agent), agent, operator),
      })),
    );
}
