import { Database } from '../../src/database/database';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { AuditService } from '../../src/audit/audit.service';
import { SubscribersRepository } from '../../src/webhooks/endpoints/subscribers.repository';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { ConnectedWorkspace, deliveryOf, waitForStatus } from '../support/connected-workspace';
import { errorBody } from '../support/errors';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { callIn, createTenant, nameOf, ROUTES } from '../support/routes';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { letTimePass, waitFor } from '../support/wait';
import { deliveriesOf, findDue, findScheduled, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';
import { TestWidget } from '../support/widget';

const DAY_MS = 86_400_000;
/** Time of several polls, in which one would have found what is due. */
const SEVERAL_POLLS_MS = 2_500;

describe('a suspended workspace', () => {
  let telegram: TelegramSimulator;
  let service: TestService;
  let receiver: Receiver;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    const env = telegram.environment;
    service = await TestService.create({ role: 'all', env });
    telegram.hookOrigin = service.baseUrl;
    receiver = await Receiver.start();
  });
  beforeEach(() => {
    receiver.https.respond = (response) => response.end('ok');
  });

  const workspaces = () => service.app.get(WorkspacesService);
  const suspend = ({ id }: { id: string }) => workspaces().suspend(id, SYSTEM);
  const resume = ({ id }: { id: string }) => workspaces().resume(id, SYSTEM);

  describe('and its keys', () => {
    it('refuses every route at once', async () => {
      const tenant = await createTenant(service);
      const statusesOf = async () => {
        const statuses: Record<string, number> = {};
        for (const route of ROUTES) statuses[nameOf(route)] = (await callIn(tenant, route)).status;
        return statuses;
      };
      const successes = Object.fromEntries(ROUTES.map((route) => [nameOf(route), route.success]));
      expect(await statusesOf()).toEqual(successes);

      await suspend(tenant.workspace);
      for (const route of ROUTES) {
        const { status, body, headers } = await callIn(tenant, route);
        expect({ route: nameOf(route), status, body }).toEqual({
          route: nameOf(route),
          status: 403,
          body: errorBody('WORKSPACE_SUSPENDED', 'The workspace is suspended.'),
        });
        expect(headers['x-ratelimit-limit']).toBe('240');
      }

      await resume(tenant.workspace);
      expect(await statusesOf()).toEqual(successes);
    });

    it('refuses unknown and revoked keys as ever', async () => {
      const { workspace, client } = await createTenant(service);
      await suspend(workspace);
      await service.query('UPDATE api_keys SET revoked_at = now() WHERE tenant_id = $1', [workspace.id]);
      expect((await client.get('/me')).status).toBe(401);
    });
  });

  describe('and its webhooks', () => {
    it('makes no delivery, and all of them when it is resumed, each with its attempts', async () => {
      const subscription = await subscribe(service, receiver);
      const { workspace, conversation, endpoint, path } = subscription;
      const neighbour = await subscribe(service, receiver);
      await suspend(workspace);

      for (let n = 0; n < 3; n++) await service.make.received(workspace, conversation);
      await waitForDeliveries(service, endpoint, 'PENDING', 3);
      await neighbour.message();
      await neighbour.waitForStatus(neighbour.endpoint, 'succeeded');
      await letTimePass(SEVERAL_POLLS_MS);
      expect(receiver.received(path)).toEqual([]);
      expect(await deliveriesOf(service, endpoint)).toMatchObject(
        Array.from({ length: 3 }, () => ({ status: 'PENDING', attempt_count: 0, lease_id: null })),
      );

      await resume(workspace);
      await waitForDeliveries(service, endpoint, 'SUCCEEDED', 3);
      expect(
        receiver.received(path).filter(({ envelope }) => envelope.event === 'message.created'),
      ).toHaveLength(3);
      expect(await deliveriesOf(service, endpoint)).toMatchObject(
        Array.from({ length: 3 }, () => ({ attempt_count: 1 })),
      );
    });

    it('does not occupy the polls', async () => {
      const { workspace, endpoint, conversation } = await subscribe(service, receiver);
      await suspend(workspace);
      await service.make.received(workspace, conversation);
      await waitForDeliveries(service, endpoint, 'PENDING', 1);

      expect(await findDue(service)).not.toContain(endpoint.id);
      await service.query('UPDATE pending_deliveries SET attempt_count = 1 WHERE endpoint_id = $1', [
        endpoint.id,
      ]);
      expect(await findScheduled(service, new Date(0))).not.toContain(endpoint.id);
      await service.query('UPDATE pending_deliveries SET attempt_count = 0 WHERE endpoint_id = $1', [
        endpoint.id,
      ]);

      await resume(workspace);
      await waitForDeliveries(service, endpoint, 'SUCCEEDED', 1);
    });

    it('uses up no attempt of a retry', async () => {
      receiver.https.respond = (response) => response.writeHead(500).end();
      const subscription = await subscribe(service, receiver, { events: ['message.created'] });
      const { workspace, endpoint, path } = subscription;
      await subscription.message();
      await subscription.waitForDelivery(
        endpoint,
        'has failed once',
        ({ attempts }) => attempts.length === 1,
      );
      await suspend(workspace);
      await service.query('UPDATE pending_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1', [
        endpoint.id,
      ]);
      await letTimePass(SEVERAL_POLLS_MS);
      const before = receiver.received(path).length;
      expect(await deliveriesOf(service, endpoint)).toMatchObject([
        { status: 'PENDING', attempt_count: before, lease_id: null },
      ]);

      receiver.https.respond = (response) => response.end('ok');
      await resume(workspace);
      const [delivered] = await waitForDeliveries(service, endpoint, 'SUCCEEDED', 1);
      expect(delivered!.attempt_count).toBe(before + 1);
      expect(receiver.received(path)).toHaveLength(before + 1);
    });

    it('refuses the Test button, and keeps a redelivery waiting', async () => {
      const subscription = await subscribe(service, receiver, { events: ['message.created'] });
      const { workspace, endpoint, path } = subscription;
      await subscription.message();
      const [delivered] = await subscription.waitForStatus(endpoint, 'succeeded');
      await suspend(workspace);

      await expect(subscription.test(endpoint)).rejects.toMatchObject({
        code: 'WORKSPACE_SUSPENDED',
        status: 403,
      });
      expect(await subscription.redeliver(delivered!)).toMatchObject({ status: 'pending' });
      await letTimePass(SEVERAL_POLLS_MS);
      expect(receiver.received(path)).toHaveLength(1);

      await resume(workspace);
      await receiver.waitForCount(2, path);
      expect((await subscription.test(endpoint)).status).toBe(200);
    });

    it('waits for the claims of the moment, and for no later one', async () => {
      const { workspace, endpoint } = await subscribe(service, receiver);
      const claim = (whileLocked: () => Promise<unknown>) =>
        service.app.get(Database).transaction(async (tx) => {
          const [locked] = await service.app
            .get(SubscribersRepository)
            .lockSubscribers(tx, [{ tenantId: workspace.id, id: endpoint.id }]);
          await whileLocked();
          return locked!.isLocked;
        });
      let suspension: Promise<unknown> = Promise.resolve();
      let hasReturned = false;
      const isLocked = await claim(async () => {
        suspension = suspend(workspace).then(() => (hasReturned = true));
        await waitForLockWait(service, 'the suspension');
        // The waiting claim holds up no other: these begin while it waits.
        for (let n = 0; n < 3; n++) expect(await claim(() => Promise.resolve())).toBe(false);
        expect(hasReturned).toBe(false);
      });
      expect(isLocked).toBe(true);
      await suspension;
    });

    it('does not hold the time of the suspension against an endpoint', async () => {
      receiver.https.respond = (response) => response.writeHead(500).end();
      const subscription = await subscribe(service, receiver, { events: ['message.created'] });
      const { workspace, endpoint } = subscription;
      const fail = async () => {
        await subscription.exhaust(endpoint);
        await letTimePass(SEVERAL_POLLS_MS / 5);
        return (await subscription.endpoints.get(workspace.id, endpoint.id, SYSTEM)).active;
      };
      await fail();
      await suspend(workspace);
      const longAgo = new Date(Date.now() - 30 * DAY_MS);
      await service.query('UPDATE webhook_endpoints SET failing_since = $2 WHERE id = $1', [
        endpoint.id,
        longAgo,
      ]);
      await resume(workspace);
      expect(await fail()).toBe(true);

      await service.query('UPDATE workspaces SET resumed_at = $2 WHERE id = $1', [workspace.id, longAgo]);
      await subscription.exhaust(endpoint);
      await waitFor('the deactivation', async () => {
        return !(await subscription.endpoints.get(workspace.id, endpoint.id, SYSTEM)).active;
      });
    });
  });

  describe('and its customers', () => {
    it('takes in what they write, and sends them nothing until it is resumed', async () => {
      const connected = await ConnectedWorkspace.telegram(service);
      const { workspace, connection } = connected;
      const chat = await connected.chat();
      const token = [...telegram.webhooks.keys()].find((key) => key.startsWith(`${connection.externalId}:`))!;
      await suspend(workspace);

      expect(await telegram.write(token, Number(chat.customerId), 'Are you there?')).toBe(200);
      const stored = await service.query('SELECT FROM messages WHERE tenant_id = $1 AND body = $2', [
        workspace.id,
        'Are you there?',
      ]);
      expect(stored).toHaveLength(1);
      const replies = [await chat.send('Yes.'), await chat.send('How can we help?')];
      await letTimePass(SEVERAL_POLLS_MS);
      for (const reply of replies)
        expect(await deliveryOf(service, reply)).toEqual({ status: 'QUEUED', error: null });
      expect(telegram.sendsTo(Number(chat.customerId))).toEqual([]);

      await resume(workspace);
      for (const reply of replies) await waitForStatus(service, reply, 'SENT');
      const texts = telegram.textsTo(chat.customerId);
      expect(texts).toEqual(['Yes.', 'How can we help?']);
    });

    it('takes in what visitors of the widget write, and shows them no answer until it is resumed', async () => {
      const workspace = await service.make.workspace();
      await service.make.agent(workspace);
      const widget = await TestWidget.connect(service, workspace);
      const visitor = await widget.visitor();
      const stream = await visitor.stream();
      await stream.next('ready');
      await suspend(workspace);

      expect((await visitor.post('1', 'Do you ship to Spain?')).status).toBe(201);
      const { body: session } = await visitor.open();
      const { id } = await service.make.sent(workspace, { id: session.conversationId as string }, 'We do.');
      await letTimePass(SEVERAL_POLLS_MS);
      const bodies = async () =>
        ((await visitor.history()).body.data as { body: string }[]).map(({ body }) => body);
      expect(await bodies()).toEqual(['Do you ship to Spain?']);
      expect(stream.listEvents('message').map(({ data }) => data.message.body as string)).not.toContain(
        'We do.',
      );

      await resume(workspace);
      await waitFor('the answer', () =>
        stream.listEvents('message').find(({ data }) => data.message.id === id),
      );
      expect(await bodies()).toEqual(['We do.', 'Do you ship to Spain?']);
      stream.close();
    });
  });

  it('is suspended and resumed once, with an audit entry each', async () => {
    const workspace = await service.make.workspace();
    const actor = { type: 'operator', name: 'lin' } as const;
    const { suspendedAt } = await workspaces().suspend(workspace.id, actor);
    expect(suspendedAt).toEqual(expect.any(Date));
    expect(await workspaces().suspend(workspace.id, SYSTEM)).toMatchObject({ suspendedAt });
    const { resumedAt } = await workspaces().resume(workspace.id, actor);
    expect(await workspaces().resume(workspace.id, SYSTEM)).toMatchObject({ suspendedAt: null, resumedAt });

    const { data: entries } = await service.app.get(AuditService).list(workspace.id, {}, SYSTEM);
    const at = suspendedAt!.toISOString();
    expect(entries.slice(0, 2)).toMatchObject([
      {
        action: 'workspace.resumed',
        actorName: 'lin',
        before: { suspendedAt: at },
        after: { suspendedAt: null },
      },
      {
        action: 'workspace.suspended',
        actorName: 'lin',
        before: { suspendedAt: null },
        after: { suspendedAt: at },
      },
    ]);
    expect(entries.filter(({ action }) => /suspended|resumed/.test(action))).toHaveLength(2);
  });

  it('is suspended and resumed by the operator alone', async () => {
    const workspace = await service.make.workspace();
    const { id } = await service.make.agent(workspace);
    for (const change of ['suspend', 'resume'] as const)
      await expect(workspaces()[change](workspace.id, { type: 'agent', id })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    for (const change of [suspend, resume])
      await expect(change({ id: newId() })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
