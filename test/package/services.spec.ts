import { ApiKeysService } from '../../src/auth/api-keys.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

const URL = 'https://127.0.0.1:9999/hook';

describe('the services that a dashboard backend imports', () => {
  let host: MessagingHost;
  let own: Subscription;
  let other: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
    own = await subscribe(host, URL);
    other = await subscribe(host, URL);
  });

  const keys = () => host.get(ApiKeysService);
  const endpoints = () => host.get(WebhookEndpointsService);
  const channels = () => host.get(ChannelConnectionsService);
  const connectWidget = (workspaceId: string, actor: Actor) =>
    channels().connect(
      workspaceId,
      { channel: 'WIDGET', credentials: { allowedOrigins: ['https://shop.example'] } },
      actor,
    );
  const createKey = (workspaceId: string, actor: Actor) =>
    keys().create(workspaceId, { name: 'CRM', scopes: ['contacts:read'] }, actor);

  describe.each([
    ['that there is not', () => newId()],
    ['whose id is none', () => 'nope'],
  ])('in a workspace %s', (_, id) => {
    it.each<[string, () => Promise<unknown>]>([
      ['no key', () => createKey(id(), SYSTEM)],
      ['no endpoint', () => endpoints().create(id(), { url: URL, events: ['*'] }, SYSTEM)],
      ['no channel connection', () => connectWidget(id(), SYSTEM)],
      [
        'no agent',
        () =>
          host
            .get(AgentsService)
            .create(id(), { name: 'Ann', email: 'ann@example.com', role: 'AGENT' }, SYSTEM),
      ],
      ['no contact', () => host.get(ContactsService).create(id(), { name: 'Zoë' }, SYSTEM)],
    ])('make %s, and say that it is not found', async (_what, create) => {
      await expect(create()).rejects.toMatchObject({ name: 'AppError', code: 'NOT_FOUND' });
    });

    it('list nothing', async () => {
      expect(await keys().list(id(), {}, SYSTEM)).toEqual([]);
      expect(await endpoints().list(id(), SYSTEM)).toEqual([]);
      expect(await channels().list(id(), SYSTEM)).toEqual([]);
      expect(await host.get(AgentsService).list(id(), SYSTEM)).toEqual([]);
    });
  });

  describe('let nobody act who', () => {
    it.each<[string, () => Promise<string>]>([
      ['is an agent of another workspace', async () => (await host.make.agent(other.workspace)).id],
      ['is nobody', () => Promise.resolve(newId())],
    ])('%s', async (_, agentId) => {
      const actor: Actor = { type: 'agent', id: await agentId() };
      const lists = async () => [
        await keys().list(own.workspace.id, {}, SYSTEM),
        await endpoints().list(own.workspace.id, SYSTEM),
        await channels().list(own.workspace.id, SYSTEM),
      ];
      const before = await lists();
      for (const act of [
        () => createKey(own.workspace.id, actor),
        () => connectWidget(own.workspace.id, actor),
        () => endpoints().create(own.workspace.id, { url: URL, events: ['*'] }, actor),
        () => endpoints().deactivate(own.workspace.id, own.endpoint.id, actor),
      ]) {
        await expect(act()).rejects.toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'actor' }] });
      }
      expect(await lists()).toEqual(before);
    });
  });

  it('return plain dates', async () => {
    const { id } = await host.get(ContactsService).create(own.workspace.id, { name: 'Zoë' }, SYSTEM);
    const { createdAt } = await host.get(ContactsService).get(own.workspace.id, id, SYSTEM);
    expect(Object.getPrototypeOf(createdAt)).toBe(Date.prototype);
  });
});
