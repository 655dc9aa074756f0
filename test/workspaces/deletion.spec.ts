import { AUDIT_TABLE } from '../../src/audit/audit-entries.repository';
import { AuditService } from '../../src/audit/audit.service';
import { SYSTEM } from '../../src/access/principal';
import { TableRegistry } from '../../src/database/tables/table-registry';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';
import { listTenantTables } from '../support/tenant-tables';

/** Tables whose rows go with the workspace's own row: its deletion and its slug. */
const WITH_THE_WORKSPACE = ['workspace_deletions', 'workspace_slugs'];

describe('the deletion of a workspace', () => {
  let service: TestService;
  let host: MessagingHost;

  beforeAll(async () => {
    service = await TestService.create();
    host = await MessagingHost.create({ beside: service });
  });

  const workspaces = () => service.app.get(WorkspacesService);
  const erase = ({ id }: { id: string }, graceDays?: number) =>
    workspaces().delete(id, { graceDays }, SYSTEM);

  it('names every table with a tenant_id', async () => {
    const tables = host.get(TableRegistry).listForDeletion();
    const listed = [...tables.map(({ name }) => name), AUDIT_TABLE, ...WITH_THE_WORKSPACE];
    expect(listed.sort()).toEqual(await listTenantTables(service));
  });

  describe('in its days of grace', () => {
    it('leaves a workspace suspended that was so before, or that is suspended meanwhile', async () => {
      const [earlier, meanwhile] = [await service.make.workspace(), await service.make.workspace()];
      await workspaces().suspend(earlier.id, SYSTEM);
      await erase(earlier);
      await erase(meanwhile, 7);
      await workspaces().suspend(meanwhile.id, SYSTEM);
      for (const { id } of [earlier, meanwhile]) {
        expect(await workspaces().cancelDeletion(id, SYSTEM)).toMatchObject({
          suspendedAt: expect.any(Date),
        });
        expect(await workspaces().resume(id, SYSTEM)).toMatchObject({ suspendedAt: null });
      }
    });

    it('can be moved, and not be changed any more once it has begun', async () => {
      const workspace = await service.make.workspace();
      await erase(workspace, 10);
      const { dueAt, requestedAt } = await erase(workspace, 3);
      expect(dueAt.getTime() - requestedAt.getTime()).toBe(3 * 86_400_000);
      await service.query('UPDATE workspace_deletions SET started_at = now() WHERE tenant_id = $1', [
        workspace.id,
      ]);
      for (const change of [() => erase(workspace), () => workspaces().cancelDeletion(workspace.id, SYSTEM)])
        await expect(change()).rejects.toMatchObject({ code: 'INVALID_BODY' });
    });

    it('is for an owner or the operator', async () => {
      const workspace = await service.make.workspace();
      const admin = await service.make.agent(workspace, { role: 'ADMIN' });
      const owner = await service.make.agent(workspace, { role: 'OWNER' });
      const as = ({ id }: { id: string }) => ({ type: 'agent', id }) as const;
      const forbidden = { code: 'FORBIDDEN' };
      await expect(workspaces().delete(workspace.id, {}, as(admin))).rejects.toMatchObject(forbidden);
      await workspaces().delete(workspace.id, {}, as(owner));
      await expect(workspaces().cancelDeletion(workspace.id, as(admin))).rejects.toMatchObject(forbidden);
      await workspaces().cancelDeletion(workspace.id, as(owner));
    });

    it.each([-1, 366, 1.5, 'x'])('refuses %p days', async (graceDays) => {
      const { id } = await service.make.workspace();
      const input = { graceDays } as never;
      await expect(workspaces().delete(id, input, SYSTEM)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'graceDays', message: expect.any(String) }],
      });
    });
  });

  it('can be preceded by an export of the audit log, oldest entry first', async () => {
    const workspace = await service.make.workspace();
    await service.query(
      `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, created_at)
       SELECT $1, gen_random_uuid(), 'made.up', 'thing', n::text, 'system', now() FROM generate_series(1, 2500) AS n`,
      [workspace.id],
    );
    const ids: string[] = [];
    for await (const line of service.app.get(AuditService).export(workspace.id, {}, SYSTEM))
      ids.push((JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(2501);
    expect(ids).toEqual([...ids].sort());
  });
});
