import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { buildProgram } from '../../src/cli/program';
import { Permission, PERMISSIONS } from '../../src/access/permissions';
import { nameOf, WRITES } from '../support/routes';
import { serviceMethods } from '../support/service-methods';
import { readsOf } from '../access/reads';
import {
  COMMANDS,
  CONTENT,
  OTHER_READS,
  PERSONAL_READS,
  PERSONAL_WRITES,
  ROUTES,
  WITHOUT_SERVICE,
} from './changes/known-methods';
import { accessChanges, messagingChanges } from './changes/scenarios';

/** Methods without a scenario of their own, each with a method that calls it and has one. */
const COVERED: Record<string, string> = {
  'PasswordsService.acceptReset': 'LinksService.accept',
  'WebhookDeliveriesService.redeliverMany': 'WebhookDeliveriesService.redeliver',
  'AuditService.appendPipelined': 'AuditService.record',
  'ContactArchiveService.export': 'ContactExportService.export',
};

describe('every change of a workspace is known here:', () => {
  const noHost = (): never => {
    throw new Error('No scenario runs here');
  };
  const scenarios = { ...accessChanges(noHost, noHost), ...messagingChanges(noHost) };
  const audited = Object.values(scenarios).flatMap(({ method }) => method ?? []);
  const reads = readsOf(noHost);
  const known = new Set([
    ...audited,
    ...Object.keys(COVERED),
    ...Object.keys(reads),
    ...PERSONAL_READS,
    ...OTHER_READS,
    ...CONTENT,
    ...PERSONAL_WRITES,
  ]);
  const writing = new Set([...audited, ...CONTENT]);

  it('every method of every service reads, has a scenario, or writes content', () => {
    const methods = serviceMethods();
    expect(methods.length).toBeGreaterThan(40);
    expect(methods.filter((method) => !known.has(method))).toEqual([]);
    expect([...known].filter((method) => !methods.includes(method))).toEqual([]);
  });

  it('every command and every route that writes calls such a method', () => {
    const commands = leavesOf(buildProgram()).filter((path) => !WITHOUT_SERVICE.includes(path));
    expect(commands.sort()).toEqual(Object.keys(COMMANDS).sort());
    expect(WRITES.map(nameOf).sort()).toEqual(Object.keys(ROUTES).sort());
    const called = [...Object.values(COMMANDS), ...Object.values(ROUTES)];
    expect(called.filter((method) => method !== null && !writing.has(method))).toEqual([]);
  });

  it('every action is in the table of docs/reference/audit.md', () => {
    const rows = readFileSync(resolve(__dirname, '../../docs/reference/audit.md'), 'utf8').split('\n');
    const actions = Object.keys(scenarios).map((name) => name.split(',')[0]!);
    const isListed = (action: string) => {
      const [entity, act] = action.split('.');
      return rows.some((row) => row.startsWith(`| \`${entity}\``) && row.includes(`\`${act}\``));
    };
    expect(actions.filter((action) => !isListed(action))).toEqual([]);
  });

  it('every permission is required somewhere', () => {
    const required = new Set(
      [...Object.values(scenarios), ...Object.values(reads)].map(({ permission }) => permission),
    );
    const byOthers: Permission[] = [
      'workspace.create',
      'contact.create',
      'secret.reencrypt',
      'login.manage',
      'note.delete_others',
      'draft.save',
      'alert_mail.choose',
      'notice_choice.set',
    ];
    expect([...required, ...byOthers].filter(Boolean).sort()).toEqual(Object.keys(PERMISSIONS).sort());
  });
});

function leavesOf(command: Command, path = ''): string[] {
  return command.commands.flatMap((child) => {
    const childPath = `${path} ${child.name()}`.trim();
    return child.commands.length > 0 ? leavesOf(child, childPath) : [childPath];
  });
}
