import { Command, Option } from 'commander';
import type { RevokeApiKey } from '../auth/api-key.dto';
import { AppError } from '../common/app-error';
import { type Scope, SCOPES } from '../access/permissions';
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

interface RevokeOptions {
  leaked?: true;
  replacedBy?: string;
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

  addRevocation(apiKey, 'revoke')
    .description('Revokes a key: its next request is refused. Ends or hands over its webhook endpoints.')
    .requiredOption('--id <id>', 'the key')
    .addHelpText(
      'after',
      example(
        '{id, name, …, endpoints: [{id, name, url, outcome, knewSecret}]}',
        'api-key revoke --id <id> --leaked',
        'api-key revoke --id <id> --replaced-by <id>',
      ),
    )
    .action(
      withServices(async ({ lookup, apiKeys, operator }, options: RevokeOptions & { id: string }) => {
        const tenantId = await lookup.findWorkspaceId('API key', options.id);
        return apiKeys.revoke(tenantId, options.id, toRevocation(options), operator);
      }),
    );

  addRevocation(apiKey, 'revoke-all')
    .description('Revokes all keys that an agent has created, such as one that was deactivated.')
    .requiredOption('--agent <id>', 'the agent')
    .addHelpText('after', example('{data: [revoked keys]}', 'api-key revoke-all --agent <id> --leaked'))
    .action(
      withServices(async ({ lookup, apiKeys, operator }, options: RevokeOptions & { agent: string }) => {
        const { agent } = options;
        const tenantId = await lookup.findWorkspaceId('Agent', agent);
        return { data: await apiKeys.revokeByCreator(tenantId, agent, toRevocation(options), operator) };
      }),
    );
}

/** Adds a command that asks what becomes of the webhook endpoints of a key. */
function addRevocation(apiKey: Command, name: string): Command {
  const replacement = new Option('--replaced-by <id>', 'the working key that takes over its endpoints');
  return apiKey
    .command(name)
    .option('--leaked', 'deactivates its endpoints, also for a key that nobody needs any more')
    .addOption(replacement.conflicts('leaked'));
}

/** Refuses a revocation that does not say what becomes of the endpoints. */
function toRevocation({ leaked, replacedBy }: RevokeOptions): RevokeApiKey {
  if (replacedBy !== undefined) return { reason: 'REPLACED', replacedBy };
  if (leaked) return { reason: 'LEAKED' };
  const message = "Say what becomes of the key's webhook endpoints: give --leaked or --replaced-by.";
  throw new AppError('INVALID_BODY', message);
}
