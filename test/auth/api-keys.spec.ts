import { ApiKeysService } from '../../src/auth/api-keys.service';
import { CreateApiKey } from '../../src/auth/api-key.dto';
import { SYSTEM } from '../../src/access/principal';
import { MessagingHost } from '../support/messaging-host';

const LEAKED = { reason: 'LEAKED' as const };
const DAY_MS = 24 * 60 * 60 * 1000;

describe('API keys', () => {
  let free: MessagingHost;
  let bounded: MessagingHost;
  let workspaceId: string;

  beforeAll(async () => {
    free = await MessagingHost.create();
    bounded = await MessagingHost.create({ beside: free, apiKeyMaxLifeDays: 90 });
  });
  beforeEach(async () => {
    workspaceId = (await free.make.workspace()).id;
  });

  const createAt = (host: MessagingHost, input: Partial<CreateApiKey> = {}) =>
    host
      .get(ApiKeysService)
      .create(workspaceId, { name: 'CRM', scopes: ['contacts:read'], ...input }, SYSTEM);
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

  describe('with a longest life', () => {
    it('end with it unless they end before', async () => {
      const { expiresAt, createdAt } = await createAt(bounded);
      expect(Math.abs(expiresAt!.getTime() - createdAt.getTime() - 90 * DAY_MS)).toBeLessThan(1_000);
      const sooner = inDays(89);
      expect((await createAt(bounded, { expiresAt: sooner })).expiresAt).toEqual(sooner);
    });

    it('are refused with a later end, and leave none behind', async () => {
      await expect(createAt(bounded, { expiresAt: inDays(91) })).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [
          { field: 'expiresAt', message: 'must be at most 90 days ahead: the longest life of a key' },
        ],
      });
      expect(await bounded.get(ApiKeysService).list(workspaceId, {}, SYSTEM)).toEqual([]);
    });

    it('may otherwise live for ever, or as long as is said', async () => {
      expect((await createAt(free)).expiresAt).toBeNull();
      const later = inDays(10_000);
      expect((await createAt(free, { expiresAt: later })).expiresAt).toEqual(later);
    });
  });

  describe('of one workspace', () => {
    const insert = (count: number, ended: { expiresAt?: Date; revokedAt?: Date } = {}) =>
      free.query(
        `INSERT INTO api_keys (tenant_id, id, name, hash, first_chars, last_chars, scopes, created_at, expires_at, revoked_at)
         SELECT $1, gen_random_uuid(), 'CRM', decode(md5(random()::text), 'hex'), 'AAAA', 'ZZZZ', '{contacts:read}',
                now(), $3, $4
         FROM generate_series(1, $2)`,
        [workspaceId, count, ended.expiresAt ?? null, ended.revokedAt ?? null],
      );
    const refusal = { code: 'INVALID_BODY', message: 'A workspace has at most 200 keys: revoke one first.' };

    it('are at most 200 that work, also when several are made at once', async () => {
      await insert(198);
      await insert(5, { expiresAt: inDays(-1) });
      await insert(5, { revokedAt: new Date() });
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => createAt(free)));
      const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(made).toHaveLength(2);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refusal);
      await free.get(ApiKeysService).revoke(workspaceId, made[0]!.id, LEAKED, SYSTEM);
      expect(await createAt(free)).toMatchObject({ name: 'CRM' });
      await expect(createAt(free)).rejects.toMatchObject(refusal);
    });

    it('are kept up to 300 that do not work, however many are made', async () => {
      await insert(310, { revokedAt: new Date() });
      await insert(30, { expiresAt: inDays(-1) });
      await createAt(free);
      const kept = await free.query('SELECT FROM api_keys WHERE tenant_id = $1', [workspaceId]);
      expect(kept).toHaveLength(301);
      expect(await free.get(ApiKeysService).countWorking(workspaceId, SYSTEM)).toBe(1);
    });

    it('are listed up to 300 that do not work, the latest first', async () => {
      const { id } = await createAt(free);
      await insert(350, { revokedAt: new Date() });
      const listed = await free.get(ApiKeysService).list(workspaceId, {}, SYSTEM);
      expect(listed).toHaveLength(301);
      expect(listed.map((key) => key.id)).toContain(id);
      expect(listed.map((key) => key.id)).toEqual(
        listed
          .map((key) => key.id)
          .sort()
          .reverse(),
      );
    });
  });

  describe('that are unused', () => {
    const age = (id: string, column: string, days: number) =>
      free.query(`UPDATE api_keys SET ${column} = now() - $2 * interval '1 day' WHERE id = $1`, [id, days]);
    const unused = async (days = 90) =>
      (await free.get(ApiKeysService).list(workspaceId, { unusedForDays: days }, SYSTEM)).map(({ id }) => id);

    it('are those that still work, and were neither used nor created since', async () => {
      const [fresh, idle, used] = [await createAt(free), await createAt(free), await createAt(free)];
      await createAt(free, { expiresAt: inDays(1) });
      for (const { id } of [idle, used]) await age(id, 'created_at', 91);
      await age(used.id, 'last_used_at', 89);
      expect(await unused()).toEqual([idle.id]);
      expect(await unused(88)).toEqual([used.id, idle.id]);

      await age(used.id, 'last_used_at', 91);
      expect(await unused()).toEqual([used.id, idle.id]);
      await free.get(ApiKeysService).revoke(workspaceId, idle.id, LEAKED, SYSTEM);
      expect(await unused()).toEqual([used.id]);
      await age(used.id, 'expires_at', 1);
      expect(await unused()).toEqual([]);
      expect(await free.get(ApiKeysService).list(workspaceId, {}, SYSTEM)).toHaveLength(4);
      expect(fresh.lastUsedAt).toBeNull();
    });

    it('are those of the one workspace', async () => {
      await age((await createAt(free)).id, 'created_at', 91);
      workspaceId = (await free.make.workspace()).id;
      expect(await unused()).toEqual([]);
    });

    it.each([0, -1, 1.5, 3_651, '90'])('are not listed for %p days', async (unusedForDays) => {
      await expect(
        free.get(ApiKeysService).list(workspaceId, { unusedForDays: unusedForDays as number }, SYSTEM),
      ).rejects.toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'unusedForDays' }] });
    });
  });

  describe('of an agent', () => {
    it('are all revoked at once, and those of others stay', async () => {
      const keys = free.get(ApiKeysService);
      const workspace = { id: workspaceId };
      const [leaving, staying] = [await free.make.agent(workspace), await free.make.agent(workspace)];
      const input: CreateApiKey = { name: 'CRM', scopes: ['contacts:read'] };
      const create = ({ id }: { id: string }) => keys.create(workspaceId, input, { type: 'agent', id });
      for (let n = 0; n < 101; n++) await create(leaving);
      const kept = await create(staying);

      expect(await keys.revokeByCreator(workspaceId, leaving.id, LEAKED, SYSTEM)).toHaveLength(101);
      expect(await keys.revokeByCreator(workspaceId, leaving.id, LEAKED, SYSTEM)).toEqual([]);
      const working = (await keys.list(workspaceId, {}, SYSTEM)).filter(
        ({ revokedAt }) => revokedAt === null,
      );
      expect(working.map(({ id }) => id)).toEqual([kept.id]);
      expect(
        await keys.revokeByCreator((await free.make.workspace()).id, staying.id, LEAKED, SYSTEM),
      ).toEqual([]);
    });
  });
});
