import { Command } from 'commander';
import type { ListAlertsQuery } from '../alerts/alert.dto';
import { addWorkspaceCommand, PAGE_OF_LIST } from './command';
import { option } from './option-values';

interface ListOptions extends Partial<Omit<ListAlertsQuery, 'open'>> {
  open?: true;
  resolved?: true;
}

export function addAlertCommands(program: Command): void {
  const group = program.command('alerts').description('What the owners of a workspace must know.');

  addWorkspaceCommand(group, 'list', {
    does: 'Lists the open alerts of a workspace and those resolved in the last 90 days, newest first.',
    options: [
      option('--open', 'only open ones').conflicts('resolved'),
      option('--resolved', 'only resolved ones'),
      ...PAGE_OF_LIST,
    ],
    prints: '{data: [{id, kind, subjectType, subjectId, openedAt, resolvedAt, toldAt}], nextCursor}',
    calls: ['alerts list --workspace acme --open'],
    run: ({ alerts, operator }, tenantId, { open, resolved, ...page }: ListOptions) =>
      alerts.list(tenantId, { ...page, open: open ?? (resolved && false) }, operator),
  });
}
