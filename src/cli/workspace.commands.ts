import { Command } from 'commander';
import { SYSTEM } from '../common/principal';
import type { Entitlement, PlanTier } from '../workspaces/plan-policy';
import { example, requireChange, withServices } from './command';
import { isoDate, list, wholeNumber, wholeNumberOrDefault } from './option-values';

interface CreateOptions {
  name: string;
  slug: string;
  plan: PlanTier;
  trialEndsAt?: Date;
  rateLimit?: number;
  entitlements?: Entitlement[];
}

interface UpdateOptions {
  slug: string;
  plan?: PlanTier;
  trialEndsAt?: Date;
  rateLimit?: number | 'default';
  entitlements?: Entitlement[];
}

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
    .option('--entitlements <list>', 'in addition to the plan: auditWebhookExport', list)
    .addHelpText(
      'after',
      example(
        '{id, name, slug, planTier, trialEndsAt, rateLimit, entitlements, createdAt, updatedAt}',
        'workspace create --name Acme --slug acme --plan PRO',
      ),
    )
    .action(
      withServices(({ workspaces }, { plan, ...given }: CreateOptions) =>
        workspaces.create({ ...given, planTier: plan }),
      ),
    );

  workspace
    .command('list')
    .description('Lists all workspaces, newest first.')
    .addHelpText('after', example('{data: [workspaces]}', 'workspace list'))
    .action(withServices(async ({ lookup }) => ({ data: await lookup.workspaces() })));

  workspace
    .command('update')
    .description('Changes only the given values.')
    .requiredOption('--slug <slug>', 'the workspace')
    .option('--plan <plan>', 'TRIAL, STARTER, PRO or ENTERPRISE')
    .option('--trial-ends-at <date>', 'ISO 8601', isoDate)
    .option('--rate-limit <n>', 'requests a minute per path, or "default"', wholeNumberOrDefault)
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
      withServices(async ({ workspaces }, { slug, plan, rateLimit, ...changes }: UpdateOptions) => {
        const { id } = await workspaces.getBySlug(slug);
        const limit = rateLimit === 'default' ? null : rateLimit;
        return workspaces.update(id, { ...changes, planTier: plan, rateLimit: limit }, SYSTEM);
      }),
    );
}
