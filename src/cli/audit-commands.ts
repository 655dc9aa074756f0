import { Command } from 'commander';
import type { ListAuditEntriesQuery } from '../audit/audit-entry.dto';
import { writeLines } from './audit-export';
import { example, inWorkspace, withPages } from './command';

type ListOptions = Partial<ListAuditEntriesQuery> & { workspace: string };

interface ExportOptions {
  workspace: string;
  file: string;
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description("A workspace's audit log.");

  const list = audit
    .command('list')
    .description('Lists who changed what, newest first.')
    .requiredOption('--workspace <slug>', 'the workspace')
    .option('--action <action>', 'only this action, such as api_key.revoked')
    .option('--actor <actor>', "only by this actor: an agent's or key's id, operator:<name>, or system")
    .option('--entity <type>', 'only of this type, such as api_key')
    .option('--entity-id <id>', 'only of this thing');
  withPages(list)
    .addHelpText(
      'after',
      example(
        '{data: [{id, action, entity, entityId, actorType, before, after, address, …}], nextCursor}',
        'audit list --workspace acme --action api_key.revoked --since 2026-11-20',
      ),
    )
    .action(
      inWorkspace<ListOptions>(({ audit, operator }, tenantId, filter) =>
        audit.list(tenantId, filter, operator),
      ),
    );

  audit
    .command('export')
    .description(
      'Writes the whole audit log of a workspace to a new file, oldest entry first, a line of JSON each.',
    )
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--file <path>', 'a file that does not exist yet')
    .addHelpText('after', example('{file, entries}', 'audit export --workspace acme --file acme.jsonl'))
    .action(
      inWorkspace(async (services, tenantId, { file }: Omit<ExportOptions, 'workspace'>) => ({
        file,
        entries: await writeLines(services.audit.export(tenantId, {}, services.operator), file),
      })),
    );
}
