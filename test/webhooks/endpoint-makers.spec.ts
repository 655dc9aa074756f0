import { Client } from 'pg';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { RevokeApiKey } from '../../src/auth/api-key.dto';
import { AuditService } from '../../src/audit/audit.service';
import { Scope } from '../../src/access/permissions';
import { Actor, SYSTEM } from '../../src/access/principal';
import { CreateWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint-input.dto';
import { expectRefusal } from '../support/errors';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { countLockWaits } from '../support/lock-waits';
import { waitFor } from '../support/wait';
import { deliveriesOf } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const SCOPES: Scope[] = ['webhooks:read', 'webhooks:write', 'conversations:read', 'contacts:read'];
const LEAKED: RevokeApiKey = { reason: 'LEAKED' };

describe('endpoints that an API key made', () => {
  let service: TestService;
  let receiver: Receiver;
  let own: WebhookWorkspace;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    receiver = await Receiver.start();
  });
  beforeEach(async () => {
    own = await WebhookWorkspace.create(service);
  });

  const keys = () => service.app.get(ApiKeysService, { strict: false });
  const makeKey = (of = own, scopes = SCOPES) => service.make.apiKey(of.workspace, scopes);
  const by = ({ id }: { id: string }): Actor => ({ type: 'api_key', id, scopes: SCOPES });
  const replacedBy = ({ id }: { id: string }): RevokeApiKey => ({ reason: 'REPLACED', replacedBy: id });
  const create = (actor: Actor, given: Partial<CreateWebhookEndpoint> = {}) =>
    own.endpoints.create(own.id, { url: receiver.url(), events: ['message.created'], ...given }, actor);
  const get = ({ id }: { id: string }) => own.endpoints.get(own.id, id, SYSTEM);
  const revoke = ({ id }: { id: string }, input: RevokeApiKey = LEAKED, actor: Actor = SYSTEM) =>
    keys().revoke(own.id, id, input, actor);
  const makeAgent = async () => ({
    type: 'agent' as const,
    id: (await service.make.agent(own.workspace)).id,
  });

  it('tell who made them and who set their URL last', async () => {
    const [key, agent] = [await makeKey(), await makeAgent()];
    const operator: Actor = { type: 'operator', name: 'lin' };
    const made = await create(by(key));
    const maker = { type: 'api_key', id: key.id };
    expect(made).toMatchObject({ madeBy: maker, urlSetBy: maker });
    expect(await create(operator)).toMatchObject({
      madeBy: { type: 'operator', id: null },
      urlSetBy: { type: 'operator', id: null },
    });
    await own.endpoints.update(own.id, made.id, { name: 'CRM', url: receiver.url() }, agent);
    expect((await get(made)).urlSetBy).toEqual(maker);
    await own.endpoints.update(own.id, made.id, { url: `${receiver.url()}/new` }, agent);
    expect(await get(made)).toMatchObject({ madeBy: maker, urlSetBy: { type: 'agent', id: agent.id } });
  });

  it('end with a leaked key, those of agents stay, and what they are owed is cancelled', async () => {
    const [key, agent] = [await makeKey(), await makeAgent()];
    const [thief, redirected, paused, other] = [
      await create(by(key), { name: 'Thief', context: true }),
      await create(agent),
      await create(by(key), { url: `${receiver.url()}/paused` }),
      await create(agent),
    ];
    await own.endpoints.update(own.id, redirected.id, { url: `${receiver.url()}/thief` }, by(key));
    await own.endpoints.deactivate(own.id, paused.id, agent);
    receiver.https.respond = (response) => response.writeHead(503).end();
    await service.make.sent(own.workspace, own.conversation);
    for (const endpoint of [thief, redirected, other])
      await waitFor('a failed attempt', async () =>
        (await deliveriesOf(service, endpoint)).some(({ attempt_count }) => attempt_count > 0),
      );

    const revoked = await revoke(key, LEAKED, agent);

    expect(revoked).toMatchObject({ id: key.id, revokedAt: expect.any(Date) });
    expect(revoked.endpoints).toEqual([
      { id: thief.id, name: 'Thief', url: thief.url, outcome: 'DEACTIVATED', knewSecret: true },
      {
        id: redirected.id,
        name: null,
        url: `${receiver.url()}/thief`,
        outcome: 'DEACTIVATED',
        knewSecret: false,
      },
      { id: paused.id, name: null, url: paused.url, outcome: 'INACTIVE', knewSecret: true },
    ]);
    for (const endpoint of [thief, redirected]) {
      expect((await get(endpoint)).active).toBe(false);
      await waitFor('the cancellation', async () =>
        (await deliveriesOf(service, endpoint)).every(({ status }) => status === 'CANCELLED'),
      );
    }
    expect((await get(other)).active).toBe(true);
    expect((await deliveriesOf(service, other)).map(({ status }) => status)).toEqual(['PENDING']);
    const entries = await service.app
      .get(AuditService, { strict: false })
      .list(own.id, { action: 'webhook_endpoint.deactivated', actor: agent.id }, SYSTEM);
    expect(entries.data.filter(({ metadata }) => metadata.apiKeyId === key.id)).toHaveLength(2);
    // A repeated call changes nothing more.
    const again = await revoke(key, LEAKED, agent);
    expect(again.revokedAt).toEqual(revoked.revokedAt);
    expect(again.endpoints.map(({ outcome }) => outcome)).toEqual(['INACTIVE', 'INACTIVE', 'INACTIVE']);
  });

  it('are named with a leaked key that knows the secret of others, as long as nobody has rolled it', async () => {
    const [key, agent] = [await makeKey(), await makeAgent()];
    const roll = ({ id }: { id: string }, actor: Actor, gracePeriodSeconds = 0) =>
      own.endpoints.rollSecret(own.id, id, { gracePeriodSeconds }, actor);
    const [atOnce, slowly, rolledAgain, renewed, untouched] = [
      await create(agent),
      await create(SYSTEM),
      await create(agent),
      await create(by(key)),
      await create(agent),
    ];
    await roll(atOnce, by(key));
    await roll(slowly, by(key), 3600);
    await roll(rolledAgain, by(key));
    await roll(rolledAgain, SYSTEM);
    await roll(renewed, agent);
    const { endpoints } = await revoke(key);
    expect(endpoints.map(({ id, outcome, knewSecret }) => ({ id, outcome, knewSecret }))).toEqual([
      { id: atOnce.id, outcome: 'UNCHANGED', knewSecret: true },
      { id: slowly.id, outcome: 'UNCHANGED', knewSecret: true },
      { id: renewed.id, outcome: 'DEACTIVATED', knewSecret: false },
    ]);
    for (const endpoint of [atOnce, slowly, rolledAgain, untouched])
      expect((await get(endpoint)).active).toBe(true);
    // A secret that was rolled since is nobody's concern any more.
    await roll(atOnce, agent);
    expect((await revoke(key)).endpoints.map(({ id }) => id)).toEqual([slowly.id, renewed.id]);
  });

  it('hand the secret that a replaced key rolled to the key that replaces it', async () => {
    const [old, next, agent] = [await makeKey(), await makeKey(), await makeAgent()];
    const endpoint = await create(agent);
    await own.endpoints.rollSecret(own.id, endpoint.id, { gracePeriodSeconds: 0 }, by(old));
    await revoke(old, replacedBy(next));
    expect((await revoke(next)).endpoints).toEqual([
      expect.objectContaining({ id: endpoint.id, outcome: 'UNCHANGED', knewSecret: true }),
    ]);
    expect(await get(endpoint)).toMatchObject({ active: true, urlSetBy: { type: 'agent', id: agent.id } });
  });

  it('go on under the key that replaces theirs, and end with that one', async () => {
    const [old, next, agent] = [await makeKey(), await makeKey(), await makeAgent()];
    const [made, redirected] = [await create(by(old)), await create(agent)];
    await own.endpoints.update(own.id, redirected.id, { url: `${receiver.url()}/moved` }, by(old));
    const { endpoints } = await revoke(old, replacedBy(next));
    expect(endpoints.map(({ id, outcome }) => [id, outcome])).toEqual([
      [made.id, 'HANDED_OVER'],
      [redirected.id, 'HANDED_OVER'],
    ]);
    const maker = { type: 'api_key', id: next.id };
    expect(await get(made)).toMatchObject({ active: true, madeBy: maker, urlSetBy: maker });
    expect(await get(redirected)).toMatchObject({
      active: true,
      madeBy: { type: 'agent', id: agent.id },
      urlSetBy: maker,
    });
    expect((await revoke(old, replacedBy(next))).endpoints).toEqual([]);
    await revoke(next);
    for (const endpoint of [made, redirected]) expect((await get(endpoint)).active).toBe(false);
  });

  it('are decided about: a revocation that does not say is refused, and changes nothing', async () => {
    const [key, revoked, expired] = [await makeKey(), await makeKey(), await makeKey()];
    const foreign = await makeKey(await WebhookWorkspace.create(service));
    await revoke(revoked);
    await service.query(`UPDATE api_keys SET expires_at = now() WHERE tenant_id = $1 AND id = $2`, [
      own.id,
      expired.id,
    ]);
    const endpoint = await create(by(key));
    for (const input of [
      {},
      { reason: 'UNKNOWN' },
      { reason: 'REPLACED' },
      { reason: 'REPLACED', replacedBy: null },
      { reason: 'LEAKED', replacedBy: revoked.id },
      ...[key.id, revoked.id, expired.id, foreign.id, 'nope'].map((id) => replacedBy({ id })),
    ])
      await expectRefusal(revoke(key, input as RevokeApiKey), 'INVALID_BODY');
    expect((await get(endpoint)).active).toBe(true);
    expect((await keys().list(own.id, {}, SYSTEM)).find(({ id }) => id === key.id)?.revokedAt).toBeNull();
  });

  it('end with all keys of an agent, or go to a key of another creator', async () => {
    const [leaving, staying] = [await makeAgent(), await makeAgent()];
    const makeBy = (actor: Actor) => keys().create(own.id, { name: 'CRM', scopes: SCOPES }, actor);
    const [first, second, next] = [await makeBy(leaving), await makeBy(leaving), await makeBy(staying)];
    const [one, two] = [await create(by(first)), await create(by(second))];
    const revokeAll = (input: RevokeApiKey) => keys().revokeByCreator(own.id, leaving.id, input, SYSTEM);
    await expectRefusal(revokeAll(replacedBy(second)), 'INVALID_BODY');
    const revoked = await revokeAll(replacedBy(next));
    expect(revoked.map(({ endpoints }) => endpoints.map(({ id }) => id))).toEqual([[one.id], [two.id]]);
    expect((await get(two)).madeBy).toEqual({ type: 'api_key', id: next.id });
    const last = await makeBy(leaving);
    const three = await create(by(last));
    expect((await revokeAll(LEAKED)).map(({ id }) => id)).toEqual([last.id]);
    expect((await get(three)).active).toBe(false);
    expect((await get(one)).active).toBe(true);
  });

  it('are not made by a request that began before the revocation and commits after it', async () => {
    const key = await makeKey();
    const made = await create(by(key));
    const lock = new Client({ connectionString: service.stores.databaseAdminUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [own.id]);
    const late = create(by(key)).then(
      () => 'made',
      (error: { code: string }) => error.code,
    );
    await waitFor('the creation to wait', async () => (await countLockWaits(service)) === 1);
    const revoking = revoke(key);
    await waitFor('the revocation to wait', async () => (await countLockWaits(service)) === 2);
    await lock.query('ROLLBACK');
    await lock.end();
    const { endpoints } = await revoking;
    // Whichever came first, nothing of the key sends any more.
    expect(['made', 'UNAUTHENTICATED']).toContain(await late);
    expect(endpoints.map(({ id }) => id)).toContain(made.id);
    for (const { active } of await own.endpoints.list(own.id, SYSTEM)) expect(active).toBe(false);
    await expectRefusal(create(by(key)), 'UNAUTHENTICATED');
    for (const change of [{ active: true }, { url: `${receiver.url()}/again` }])
      await expectRefusal(own.endpoints.update(own.id, made.id, change, by(key)), 'UNAUTHENTICATED');
    await expectRefusal(own.endpoints.rollSecret(own.id, made.id, {}, by(key)), 'UNAUTHENTICATED');
  });

  it('are each decided about when two keys replace each other at once', async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    const outcomes = await Promise.allSettled([revoke(one, replacedBy(two)), revoke(two, replacedBy(one))]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'INVALID_BODY' },
    });
  });
});
