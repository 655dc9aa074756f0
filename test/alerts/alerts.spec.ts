import { AlertKind } from '../../src/alerts/alert-kinds';
import { AlertWriter } from '../../src/alerts/alert-writer';
import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';

describe('alerts', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let alerts: AlertsService;

  beforeAll(async () => {
    host = await MessagingHost.create();
    alerts = host.get(AlertsService);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
  });

  const open = (kind: AlertKind, subjectId: string) =>
    host.get(Database).transaction((tx) => host.get(AlertWriter).open(tx, workspace.id, kind, subjectId));
  const resolve = (kinds: AlertKind[], subjectId: string, openedBy?: Date) =>
    host
      .get(Database)
      .transaction((tx) => host.get(AlertWriter).resolve(tx, workspace.id, kinds, subjectId, openedBy));
  const list = async (query = {}) => (await alerts.list(workspace.id, query, SYSTEM)).data;
  const events = () =>
    host.query<{ type: string; data: object }>(
      `SELECT type, data FROM events WHERE tenant_id = $1 AND type LIKE 'alert.%' ORDER BY id`,
      [workspace.id],
    );

  it('are opened once a subject, resolved once, and each change is an event', async () => {
    const subjectId = newId();
    const opened = await Promise.all([1, 2, 3].map(() => open('ENDPOINT_FAILING', subjectId)));
    expect(opened.filter(Boolean)).toHaveLength(1);
    const [alert] = await list();
    expect(alert).toMatchObject({ kind: 'ENDPOINT_FAILING', subjectType: 'webhook_endpoint', subjectId });
    expect(await alerts.countOpen(workspace.id, SYSTEM)).toBe(1);

    await resolve(['ENDPOINT_SWITCHED_OFF'], subjectId);
    await resolve(['ENDPOINT_FAILING'], newId());
    expect(await alerts.countOpen(workspace.id, SYSTEM)).toBe(1);
    await Promise.all([1, 2].map(() => resolve(['ENDPOINT_SWITCHED_OFF', 'ENDPOINT_FAILING'], subjectId)));
    expect(await alerts.countOpen(workspace.id, SYSTEM)).toBe(0);
    expect((await list())[0]!.resolvedAt).toBeInstanceOf(Date);

    const data = { alertId: alert!.id, kind: 'ENDPOINT_FAILING', subjectType: 'webhook_endpoint', subjectId };
    expect(await events()).toEqual([
      { type: 'alert.opened', data },
      { type: 'alert.resolved', data },
    ]);
  });

  it('may be opened again, and stay open for a cause that is older than they are', async () => {
    const subjectId = newId();
    const before = new Date(Date.now() - 1_000);
    await open('CHANNEL_NEEDS_CREDENTIALS', subjectId);
    await resolve(['CHANNEL_NEEDS_CREDENTIALS'], subjectId, before);
    expect(await list({ open: true })).toHaveLength(1);
    await resolve(['CHANNEL_NEEDS_CREDENTIALS'], subjectId);
    await open('CHANNEL_NEEDS_CREDENTIALS', subjectId);
    expect(await list({ open: true })).toHaveLength(1);
    expect(await list({ open: false })).toHaveLength(1);
    expect(await list()).toHaveLength(2);
  });

  it('are those of their workspace, for OWNER and ADMIN', async () => {
    await open('TRIAL_ENDING', workspace.id);
    const other = await host.make.workspace();
    expect((await alerts.list(other.id, {}, SYSTEM)).data).toEqual([]);
    const read = async (role: 'OWNER' | 'ADMIN' | 'AGENT') => {
      const { id } = await host.make.agent(workspace, { role });
      return (await alerts.list(workspace.id, {}, { type: 'agent', id })).data.length;
    };
    expect([await read('OWNER'), await read('ADMIN')]).toEqual([1, 1]);
    await expectRefusal(read('AGENT'), 'FORBIDDEN');
  });
});
