import { Command } from 'commander';
import type { Entitlement } from '../common/entitlement';
import type { PlanTier } from '../workspaces/plan-policy';
import { writeLines } from './audit-export';
import { example, requireChange, type CommandServices, withServices } from './command';
import { isoDate, list, wholeNumber, wholeNumberOrDefault, wholeNumberOrOff } from './option-values';

interface CreateOptions {
  name: string;
  slug: string;
  plan: PlanTier;
  trialEndsAt?: Date;
  rateLimit?: number;
  messageRetentionDays?: number;
  entitlements?: Entitlement[];
}

interface UpdateOptions {
  slug: string;
  plan?: PlanTier;
  trialEndsAt?: Date;
  rateLimit?: number | 'default';
  messageRetentionDays?: number | 'off';
  entitlements?: Entitlement[];
}

interface DemandOptions {
  slug: string;
  graceDays?: number;
}

interface DeleteOptions {
  slug: string;
  graceDays?: number;
  exportAudit?: string;
}

const DELETION = '{workspaceId, slug, status, requestedAt, dueAt, startedAt, deletedRows, table}';

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('Workspaces: the tenants.');

  workspace
    .command('create')
    .description('Creates a workspace.')
    .requiredOption('--name <name>', 'the name that people see')
    .requiredOption('--slug <slug>', 'a unique short name: lower-case letters, digits, hyphens')
    .requiredOption('--plan <plan>', 'TRIAL, STARTER, PRO or ENTERPRISE')
    .option('--trial-ends-at <date>', 'ISO 8601; default on the TRIAL plan: 14 days from now', isoDate)
    .option('--rate-limit <n>', 'requests a minute per path; default 240', wholeNumber)
    .option('--message-retention-days <n>', 'erases older messages; default: never', wholeNumber)
    .option('--entitlements <list>', 'in addition to the plan: auditWebhookExport', list)
    .addHelpText(
      'after',
      example(
        '{id, name, slug, planTier, trialEndsAt, rateLimit, messageRetentionDays, entitlements, suspendedAt, resumedAt, createdAt, updatedAt}',
        'workspace create --name Acme --slug acme --plan PRO',
      ),
    )
    .action(
      withServices(({ workspaces, operator }, { plan, ...given }: CreateOptions) =>
        workspaces.create({ ...given, planTier: plan }, operator),
      ),
    );

  workspace
    .command('list')
    .description('Lists all workspaces, newest first.')
    .addHelpText('after', example('{data: [workspaces]}', 'workspace list'))
    .action(withServices(async ({ lookup }) => ({ data: await lookup.listWorkspaces() })));

  workspace
    .command('usage')
    .description('Lists the largest workspaces by estimates, at most 50, first those over a quota.')
    .addHelpText(
      'after',
      example('{data: [{slug, workspaceId, contacts, messages, bytes, over}]}', 'workspace usage'),
    )
    .action(withServices(async ({ lookup }) => ({ data: await lookup.listUsage() })));

  workspace
    .command('update')
    .description('Changes only the given values.')
    .requiredOption('--slug <slug>', 'the workspace')
    .option('--plan <plan>', 'TRIAL, STARTER, PRO or ENTERPRISE')
    .option('--trial-ends-at <date>', 'ISO 8601', isoDate)
    .option('--rate-limit <n>', 'requests a minute per path, or "default"', wholeNumberOrDefault)
    .option('--message-retention-days <n>', 'erases older messages, for ever; or "off"', wholeNumberOrOff)
    .option('--entitlements <list>', "in addition to the plan: auditWebhookExport; '' removes all", list)
    .hook('preAction', requireChange)
    .addHelpText(
      'after',
      example(
        'the workspace',
        'workspace update --slug acme --plan ENTERPRISE',
        "workspace update --slug acme --rate-limit default --entitlements ''",
      ),
    )
    .action(
      withServices(
        async (
          { workspaces, operator },
          { slug, plan, rateLimit, messageRetentionDays: days, ...changes }: UpdateOptions,
        ) => {
          const { id } = await workspaces.getBySlug(slug, operator);
          const limit = rateLimit === 'default' ? null : rateLimit;
          const messageRetentionDays = days === 'off' ? null : days;
          const values = { ...changes, planTier: plan, rateLimit: limit, messageRetentionDays };
          return workspaces.update(id, values, operator);
        },
      ),
    );

  workspace
    .command('demand-factor')
    .description('Demands a second factor of its people. Another call changes the days of grace.')
    .requiredOption('--slug <slug>', 'the workspace')
    .option('--grace-days <n>', 'for people without one, 0 to 90; default 7', wholeNumber)
    .addHelpText(
      'after',
      example('{graceDays, demandedAt}', 'workspace demand-factor --slug acme --grace-days 14'),
    )
    .action(
      withServices(
        async ({ workspaces, secondFactorDemands, operator }, { slug, graceDays }: DemandOptions) => {
          const { id } = await workspaces.getBySlug(slug, operator);
          return secondFactorDemands.demand(id, { graceDays }, operator);
        },
      ),
    );

  workspace
    .command('end-factor-demand')
    .description('Opens the workspace to people without a second factor again.')
    .requiredOption('--slug <slug>', 'the workspace')
    .addHelpText('after', example('{ended: true}', 'workspace end-factor-demand --slug acme'))
    .action(
      withServices(async ({ workspaces, secondFactorDemands, operator }, { slug }: { slug: string }) => {
        const { id } = await workspaces.getBySlug(slug, operator);
        await secondFactorDemands.endDemand(id, operator);
        return { ended: true };
      }),
    );

  addChange(workspace, 'suspend', {
    does: 'Refuses its keys and sends nothing more of it, from the answer on. What its customers write is still taken in.',
    run: ({ workspaces, operator }, id) => workspaces.suspend(id, operator),
  });
  addChange(workspace, 'resume', {
    does: 'Ends a suspension, and sends what has waited.',
    run: ({ workspaces, operator }, id) => workspaces.resume(id, operator),
  });
  addChange(workspace, 'cancel-deletion', {
    does: 'Cancels a deletion before its rows begin to go.',
    run: ({ workspaces, operator }, id) => workspaces.cancelDeletion(id, operator),
  });

  workspace
    .command('delete')
    .description('Suspends a workspace, and deletes it with everything in it after some days.')
    .requiredOption('--slug <slug>', 'the workspace')
    .option('--grace-days <n>', 'until its rows go, 0 to 365; default 30', wholeNumber)
    .option('--export-audit <path>', 'first writes its audit log to this new file, a line of JSON each')
    .addHelpText(
      'after',
      example(DELETION, 'workspace delete --slug acme --grace-days 7 --export-audit acme.jsonl'),
    )
    .action(
      withServices(
        async ({ workspaces, audit, operator }, { slug, graceDays, exportAudit }: DeleteOptions) => {
          const { id } = await workspaces.getBySlug(slug, operator);
          if (exportAudit !== undefined) await writeLines(audit.export(id, {}, operator), exportAudit);
          return workspaces.delete(id, { graceDays }, operator);
        },
      ),
    );

  workspace
    .command('deletion')
    .description('Shows how far the deletion of a workspace is. Afterwards the workspace is not found.')
    .requiredOption('--slug <slug>', 'the workspace')
    .addHelpText('after', example(DELETION, 'workspace deletion --slug acme'))
    .action(
      withServices(async ({ workspaces, operator }, { slug }: { slug: string }) => {
        const { id } = await workspaces.getBySlug(slug, operator);
        return workspaces.getDeletion(id, operator);
      }),
    );

  workspace
    .command('deletions')
    .description('Lists all scheduled and running deletions, the first due first.')
    .addHelpText('after', example('{data: [deletions]}', 'workspace deletions'))
    .action(withServices(async ({ lookup }) => ({ data: await lookup.listDeletions() })));
}

function addChange(
  workspace: Command,
  name: string,
  { does, run }: { does: string; run: (services: CommandServices, tenantId: string) => Promise<object> },
): void {
  workspace
    .command(name)
    .description(does)
    .requiredOption('--slug <slug>', 'the workspace')
    .addHelpText('after', example('the workspace', `workspace ${name} --slug acme`))
    .action(
      withServices(async (services, { slug }: { slug: string }) => {
        const { id } = await services.workspaces.getBySlug(slug, services.operator);
        return run(services, id);
      }),
    );
}
