import { Command } from 'commander';
import type { CreateWorkspace, UpdateWorkspace } from '../workspaces/workspace.dto';
import { addCommand, addWorkspaceCommand } from './command';
import { writeLines } from './line-files';
import { isoDate, list, option, orNone, orNull, required, wholeNumber } from './option-values';

type CreateOptions = Omit<CreateWorkspace, 'planTier'> & { plan: CreateWorkspace['planTier'] };

type UpdateOptions = Pick<UpdateWorkspace, 'trialEndsAt' | 'entitlements'> & {
  plan?: UpdateWorkspace['planTier'];
  rateLimit?: number | false;
  messageRetentionDays?: number | false;
};

const DELETION = '{workspaceId, slug, status, requestedAt, dueAt, startedAt, deletedRows, table}';

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('Workspaces: the tenants.');

  addCommand(workspace, 'create', {
    does: 'Creates a workspace.',
    options: [
      required('--name <name>', 'the name that people see'),
      required('--slug <slug>', 'a unique short name: lower-case letters, digits, hyphens'),
      required('--plan <plan>', 'TRIAL, STARTER, PRO or ENTERPRISE'),
      option('--trial-ends-at <date>', 'ISO 8601; default on the TRIAL plan: 14 days from now', isoDate),
      option('--rate-limit <n>', 'requests a minute per path; default 240', wholeNumber),
      option('--message-retention-days <n>', 'erases older messages; default: never', wholeNumber),
      option('--entitlements <list>', 'in addition to the plan: auditWebhookExport', list),
    ],
    prints:
      '{id, name, slug, planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements, suspendedAt, resumedAt, createdAt, updatedAt}',
    calls: ['workspace create --name Acme --slug acme --plan PRO'],
    run: ({ workspaces, operator }, { plan, ...given }: CreateOptions) =>
      workspaces.create({ ...given, planTier: plan }, operator),
  });
  addCommand(workspace, 'list', {
    does: 'Lists all workspaces, newest first.',
    prints: '{data: [workspaces]}',
    run: async ({ lookup }) => ({ data: await lookup.listWorkspaces() }),
  });
  addCommand(workspace, 'usage', {
    does: 'Lists the largest workspaces by estimates, at most 50, first those over a quota.',
    prints: '{data: [{slug, workspaceId, contacts, messages, bytes, over}]}',
    run: async ({ lookup }) => ({ data: await lookup.listUsage() }),
  });
  addWorkspaceCommand(workspace, 'update', {
    does: 'Changes only the given values.',
    options: [
      option('--plan <plan>', 'TRIAL, STARTER, PRO or ENTERPRISE'),
      option('--trial-ends-at <date>', 'ISO 8601', isoDate),
      option('--rate-limit <n>', 'requests a minute per path, or "default"', orNone('default', wholeNumber)),
      option(
        '--message-retention-days <n>',
        'erases older messages, for ever; or "off"',
        orNone('off', wholeNumber),
      ),
      option('--entitlements <list>', "in addition to the plan: auditWebhookExport; '' removes all", list),
    ],
    needsChange: true,
    prints: 'the workspace',
    calls: [
      'workspace update --slug acme --plan ENTERPRISE',
      "workspace update --slug acme --rate-limit default --entitlements ''",
    ],
    run: ({ workspaces, operator }, tenantId, given: UpdateOptions) => {
      const { plan: planTier, rateLimit, messageRetentionDays, ...others } = given;
      const removable = { rateLimit: orNull(rateLimit), messageRetentionDays: orNull(messageRetentionDays) };
      return workspaces.update(tenantId, { ...others, planTier, ...removable }, operator);
    },
  });
  addWorkspaceCommand(workspace, 'demand-factor', {
    does: 'Demands a second factor of its people. Another call changes the days of grace.',
    options: [option('--grace-days <n>', 'for people without one, 0 to 90; default 7', wholeNumber)],
    prints: '{graceDays, demandedAt}',
    calls: ['workspace demand-factor --slug acme --grace-days 14'],
    run: ({ secondFactorDemands, operator }, tenantId, given: { graceDays?: number }) =>
      secondFactorDemands.demand(tenantId, given, operator),
  });
  addWorkspaceCommand(workspace, 'end-factor-demand', {
    does: 'Opens the workspace to people without a second factor again.',
    prints: '{ended: true}',
    run: async ({ secondFactorDemands, operator }, tenantId) => {
      await secondFactorDemands.endDemand(tenantId, operator);
      return { ended: true };
    },
  });
  addWorkspaceCommand(workspace, 'suspend', {
    does: 'Refuses its keys and sends nothing more of it, from the answer on. What its customers write is still taken in.',
    prints: 'the workspace',
    run: ({ workspaces, operator }, tenantId) => workspaces.suspend(tenantId, operator),
  });
  addWorkspaceCommand(workspace, 'resume', {
    does: 'Ends a suspension, and sends what has waited.',
    prints: 'the workspace',
    run: ({ workspaces, operator }, tenantId) => workspaces.resume(tenantId, operator),
  });
  addWorkspaceCommand(workspace, 'cancel-deletion', {
    does: 'Cancels a deletion before its rows begin to go.',
    prints: 'the workspace',
    run: ({ workspaces, operator }, tenantId) => workspaces.cancelDeletion(tenantId, operator),
  });
  addWorkspaceCommand(workspace, 'delete', {
    does: 'Suspends a workspace, and deletes it with everything in it after some days.',
    options: [
      option('--grace-days <n>', 'until its rows go, 0 to 365; default 30', wholeNumber),
      option('--export-audit <path>', 'first writes its audit log to this new file, a line of JSON each'),
    ],
    prints: DELETION,
    calls: ['workspace delete --slug acme --grace-days 7 --export-audit acme.jsonl'],
    run: async (
      { workspaces, audit, operator },
      tenantId,
      { graceDays, exportAudit }: { graceDays?: number; exportAudit?: string },
    ) => {
      if (exportAudit !== undefined) await writeLines(audit.export(tenantId, {}, operator), exportAudit);
      return workspaces.delete(tenantId, { graceDays }, operator);
    },
  });
  addWorkspaceCommand(workspace, 'deletion', {
    does: 'Shows how far the deletion of a workspace is. Afterwards the workspace is not found.',
    prints: DELETION,
    run: ({ workspaces, operator }, tenantId) => workspaces.getDeletion(tenantId, operator),
  });
  addCommand(workspace, 'deletions', {
    does: 'Lists all scheduled and running deletions, the first due first.',
    prints: '{data: [deletions]}',
    run: async ({ lookup }) => ({ data: await lookup.listDeletions() }),
  });
}
