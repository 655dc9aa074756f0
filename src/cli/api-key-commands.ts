import { Command, Option } from 'commander';
import type { CreateApiKey, RevokeApiKey } from '../auth/api-key.dto';
import { AppError } from '../common/app-error';
import { SCOPES } from '../access/permissions';
import { addCommand, addWorkspaceCommand } from './command';
import { isoDate, list, option, required, wholeNumber } from './option-values';

interface RevokeOptions {
  leaked?: true;
  replacedBy?: string;
}

/** Options that deactivate the webhook endpoints of a revoked key, or hand them over to another key. */
const REVOCATION = [
  option('--leaked', 'deactivates its endpoints, also for a key that nobody needs any more'),
  new Option('--replaced-by <id>', 'the working key that takes over its endpoints').conflicts('leaked'),
];

export function addApiKeyCommands(program: Command): void {
  const apiKey = program.command('api-key').description("A workspace's keys to the REST API.");

  addWorkspaceCommand(apiKey, 'create', {
    does: 'Creates a key. Its value is printed only once.',
    options: [
      required('--name <name>', 'the purpose of the key'),
      required('--scopes <list>', SCOPES.join(','), list),
      option('--expires-at <date>', 'ISO 8601; default: the longest life allowed, or never', isoDate),
      option('--allowed-networks <list>', 'CIDR networks; default: everywhere', list),
    ],
    prints: '{id, key, name, preview, scopes, …}',
    calls: ['api-key create --workspace acme --name crm --scopes conversations:read,messages:write'],
    run: ({ apiKeys, operator }, tenantId, given: CreateApiKey) => apiKeys.create(tenantId, given, operator),
  });
  addWorkspaceCommand(apiKey, 'list', {
    does: 'Lists all keys of a workspace, also revoked ones, newest first.',
    options: [
      option('--unused <days>', 'only those that still work and were not used for so many days', wholeNumber),
    ],
    prints: '{data: [keys]}',
    calls: ['api-key list --workspace acme --unused 90'],
    run: async ({ apiKeys, operator }, tenantId, { unused: unusedForDays }: { unused?: number }) => ({
      data: await apiKeys.list(tenantId, { unusedForDays }, operator),
    }),
  });
  addCommand(apiKey, 'revoke', {
    does: 'Revokes a key: its next request is refused. Ends or hands over its webhook endpoints.',
    options: [...REVOCATION, required('--id <id>', 'the key')],
    prints: '{id, name, …, endpoints: [{id, name, url, outcome, knewSecret}]}',
    calls: ['api-key revoke --id <id> --leaked', 'api-key revoke --id <id> --replaced-by <id>'],
    run: async ({ lookup, apiKeys, operator }, { id, ...options }: RevokeOptions & { id: string }) => {
      const tenantId = await lookup.findWorkspaceId('API key', id);
      return apiKeys.revoke(tenantId, id, toRevocation(options), operator);
    },
  });
  addCommand(apiKey, 'revoke-all', {
    does: 'Revokes all keys that an agent has created, such as one that was deactivated.',
    options: [...REVOCATION, required('--agent <id>', 'the agent')],
    prints: '{data: [revoked keys]}',
    calls: ['api-key revoke-all --agent <id> --leaked'],
    run: async ({ lookup, apiKeys, operator }, { agent, ...options }: RevokeOptions & { agent: string }) => {
      const tenantId = await lookup.findWorkspaceId('Agent', agent);
      return { data: await apiKeys.revokeByCreator(tenantId, agent, toRevocation(options), operator) };
    },
  });
}

/** Converts the options. Refuses options that neither deactivate the key's endpoints nor hand them over. */
function toRevocation({ leaked, replacedBy }: RevokeOptions): RevokeApiKey {
  if (replacedBy !== undefined) return { reason: 'REPLACED', replacedBy };
  if (leaked) return { reason: 'LEAKED' };
  const message = "Say what becomes of the key's webhook endpoints: give --leaked or --replaced-by.";
  throw new AppError('INVALID_BODY', message);
}
