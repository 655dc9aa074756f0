import { AlertWriter } from '../../src/alerts/alert-writer';
import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { FileSpace } from '../../src/attachments/files/file-space';
import { FileUsageRepository } from '../../src/attachments/files/file-usage.repository';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { AlertWatchService } from '../../src/operations/alert-watch/alert-watch.service';
import { EndingThingsRepository } from '../../src/operations/alert-watch/ending-things.repository';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

describe('alerts of what ends or fills up', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let watch: AlertWatchService;

  beforeAll(async () => {
    host = await MessagingHost.create();
    const database = host.get(Database);
    watch = new AlertWatchService(database, new EndingThingsRepository(database), host.get(AlertWriter));
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
  });

  const open = async () =>
    (await host.get(AlertsService).list(workspace.id, { open: true }, SYSTEM)).data.map(
      ({ kind, subjectId }) => [kind, subjectId],
    );

  it('tell of a trial in its last three days, until the workspace has another plan or a later end', async () => {
    const update = (input: object) => host.get(WorkspacesService).update(workspace.id, input, SYSTEM);
    await update({ planTier: 'TRIAL', trialEndsAt: inDays(4) });
    await watch.watch();
    expect(await open()).toEqual([]);
    for (const end of [{ trialEndsAt: inDays(4) }, { planTier: 'PRO' }]) {
      await update({ trialEndsAt: inDays(2) });
      await watch.watch();
      await watch.watch();
      expect(await open()).toEqual([['TRIAL_ENDING', workspace.id]]);
      await update(end);
      expect(await open()).toEqual([]);
    }
  });

  it('tell of a key in its last week, until it is revoked or has ended', async () => {
    const keys = host.get(ApiKeysService);
    const create = (days: number) =>
      keys.create(workspace.id, { name: 'CRM', scopes: ['contacts:read'], expiresAt: inDays(days) }, SYSTEM);
    await create(8);
    const [revoked, ended] = [await create(6), await create(6)];
    await watch.watch();
    expect((await open()).sort()).toEqual([revoked, ended].map(({ id }) => ['KEY_ENDING', id]).sort());
    await keys.revoke(workspace.id, revoked.id, { reason: 'LEAKED' }, SYSTEM);
    expect(await open()).toEqual([['KEY_ENDING', ended.id]]);
    await host.query(`UPDATE api_keys SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      ended.id,
    ]);
    await watch.watch();
    expect(await open()).toEqual([]);
  });

  it('tell of files from 90 % of the space on, until they take less than 80 %', async () => {
    const config = {
      ...host.app.get<Config>(Config, { strict: false }),
      workspaceFileBytes: 1_000,
    } as Config;
    const space = new FileSpace(config, host.get(FileUsageRepository), host.get(AlertWriter));
    const inTransaction = <T>(work: (tx: any) => Promise<T>) => host.get(Database).transaction(work);
    const reserve = (bytes: number) => inTransaction((tx) => space.reserve(tx, workspace.id, bytes));
    const release = (bytes: number) => inTransaction((tx) => space.release(tx, workspace.id, bytes));
    expect(await reserve(899)).toBe(true);
    expect(await open()).toEqual([]);
    expect(await reserve(1)).toBe(true);
    expect(await reserve(50)).toBe(true);
    expect(await reserve(51)).toBe(false);
    expect(await open()).toEqual([['FILES_NEARLY_FULL', workspace.id]]);
    await release(150);
    expect(await open()).toHaveLength(1);
    await release(1);
    expect(await open()).toEqual([]);
  });

  it('of a recovery that has finished end after a day', async () => {
    const subjectId = newId();
    await host
      .get(Database)
      .transaction((tx) => host.get(AlertWriter).open(tx, workspace.id, 'RECOVERY_FINISHED', subjectId));
    await watch.watch();
    expect(await open()).toEqual([['RECOVERY_FINISHED', subjectId]]);
    await host.query(`UPDATE alerts SET opened_at = now() - interval '25 hours' WHERE tenant_id = $1`, [
      workspace.id,
    ]);
    await watch.watch();
    expect(await open()).toEqual([]);
  });
});
