import { Command } from 'commander';
import type { ListAuditEntriesQuery } from '../audit/audit-entry.dto';
import { addWorkspaceCommand, PAGES } from './command';
import { writeLines } from './line-files';
import { option, required } from './option-values';

export function addAuditCommands(program: Command): void {
  const group = program.command('audit').description("A workspace's audit log.");

  addWorkspaceCommand(group, 'list', {
    does: 'Lists who changed what, newest first.',
    options: [
      option('--action <action>', 'only this action, such as api_key.revoked'),
      option('--actor <actor>', "only by this actor: an agent's or key's id, operator:<name>, or system"),
      option('--entity <type>', 'only of this type, such as api_key'),
      option('--entity-id <id>', 'only of this thing'),
      ...PAGES,
    ],
    prints: '{data: [{id, action, entity, entityId, actorType, before, after, address, …}], nextCursor}',
    calls: ['audit list --workspace acme --action api_key.revoked --since 2026-11-20'],
    run: ({ audit, operator }, tenantId, filter: Partial<ListAuditEntriesQuery>) =>
      audit.list(tenantId, filter, operator),
  });
  addWorkspaceCommand(group, 'export', {
    does: 'Writes the whole audit log of a workspace to a new file, oldest entry first, a line of JSON each.',
    options: [required('--file <path>', 'a file that does not exist yet')],
    prints: '{file, entries}',
    calls: ['audit export --workspace acme --file acme.jsonl'],
    run: async ({ audit, operator }, tenantId, { file }: { file: string }) => ({
      file,
      entries: await writeLines(audit.export(tenantId, {}, operator), file),
    }),
  });
}
