import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ReplyChecksService } from '../../src/channels/outbound/reply-checks.service';
import { idFloor, newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { Chat, ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { expectRefusal } from '../support/errors';
import { TestService } from '../support/service';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';

const HOUR_MS = 3_600_000;

/** Tests that an agent hears before typing what the routing of the message would say after it. */
describe('the check of a reply', () => {
  let meta: WhatsAppSimulator;
  let service: TestService;
  let own: ConnectedWorkspace;
  let chat: Chat;

  beforeAll(async () => {
    meta = await new WhatsAppSimulator().start();
    service = await TestService.create({
      role: 'all',
      env: { META_GRAPH_URL: meta.url, PUBLIC_URL: 'https://messaging.example.com' },
    });
  });
  beforeEach(async () => {
    own = await ConnectedWorkspace.whatsApp(service);
    chat = await own.chat();
  });

  const check = (id = chat.conversation.id, tenantId = own.workspace.id) =>
    service.app.get(ReplyChecksService, { strict: false }).get(tenantId, id, SYSTEM);
  const setStatus = (status: string) =>
    service.query('UPDATE channel_connections SET status = $2 WHERE tenant_id = $1', [
      own.workspace.id,
      status,
    ]);
  /** Stores a message of some time ago. */
  const store = async (
    senderType: 'CUSTOMER' | 'AGENT',
    hoursAgo: number,
    conversationId = chat.conversation.id,
  ) => {
    const at = new Date(Date.now() - hoursAgo * HOUR_MS);
    await service.query(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, delivery_status, body, created_at)
       SELECT $1, $2, $3, $4, a.id, CASE WHEN a.id IS NOT NULL THEN 'SENT' END, 'Hello', $5
       FROM (VALUES (1)) AS one
       LEFT JOIN (SELECT id FROM agents WHERE tenant_id = $1 LIMIT 1) AS a ON $4 = 'AGENT'`,
      [own.workspace.id, conversationId, idFloor(at).slice(0, -4) + newId().slice(-4), senderType, at],
    );
    return at;
  };

  it('says until when the channel takes answers after the customer has written', async () => {
    const at = await store('CUSTOMER', 22);
    await store('AGENT', 1);
    const closesAt = new Date(at.getTime() + 24 * HOUR_MS);
    expect(await check()).toEqual({ fault: null, window: { status: 'open', closesAt } });
  });

  it('says that it is closed when the customer has not written for a day, or never', async () => {
    expect(await check()).toEqual({ fault: null, window: { status: 'closed' } });
    await store('CUSTOMER', 24.1);
    await store('AGENT', 1);
    expect(await check()).toEqual({ fault: null, window: { status: 'closed' } });
  });

  it('counts what the customer wrote in another conversation on the channel', async () => {
    const contactId = await service
      .query<{ id: string }>('SELECT contact_id AS id FROM conversations WHERE id = $1', [
        chat.conversation.id,
      ])
      .then(([row]) => row!.id);
    await store('CUSTOMER', 2);
    const later = await service.make.conversation(own.workspace, { channel: 'WHATSAPP', contactId });
    expect(await check(later.id)).toMatchObject({ window: { status: 'open' } });
    const widget = await service.make.conversation(own.workspace, { channel: 'WIDGET', contactId });
    expect(await check(widget.id)).toEqual({ fault: 'NO_CONNECTION', window: null });
  });

  it('says nothing of the time when it would have to read too much', async () => {
    await store('CUSTOMER', 23);
    for (let n = 0; n < 200; n++) await store('AGENT', 1 + n / 1_000);
    expect(await check()).toEqual({ fault: null, window: null });
  });

  it.each([
    ['NO_CONNECTION', () => setStatus('DISCONNECTED')],
    ['REAUTH_REQUIRED', () => setStatus('REAUTH_REQUIRED')],
    [
      'NO_RECIPIENT',
      () => service.query('DELETE FROM contact_identities WHERE tenant_id = $1', [own.workspace.id]),
    ],
  ])('says %s, as the message that is sent nevertheless', async (fault, lose) => {
    await store('CUSTOMER', 1);
    await lose();
    expect(await check()).toEqual({ fault, window: null });
    const message = await chat.send('Hello');
    expect(await waitForStatus(service, message, 'FAILED')).toMatchObject({ error: { code: fault } });
  });

  it('says that the contact is erased', async () => {
    const [row] = await service.query<{ id: string }>(
      'SELECT contact_id AS id FROM conversations WHERE id = $1',
      [chat.conversation.id],
    );
    const erasures = service.app.get(ContactErasuresService, { strict: false });
    await erasures.start(own.workspace.id, row!.id, SYSTEM);
    expect(await check()).toEqual({ fault: 'ERASED', window: null });
  });

  it('has no window on a channel without one', async () => {
    const workspace = await service.make.workspace();
    const credentials = { allowedOrigins: ['https://shop.example'] };
    const channels = service.app.get(ChannelConnectionsService, { strict: false });
    await channels.connect(workspace.id, { channel: 'WIDGET', credentials }, SYSTEM);
    const identity = { channel: 'WIDGET' as const, externalId: 'visitor-1' };
    const contact = await service.make.contact(workspace, { name: 'Zoë', identity });
    const { id } = await service.make.conversation(workspace, { contactId: contact.id });
    expect(await check(id, workspace.id)).toEqual({ fault: null, window: null });
  });

  it('finds no conversation of another workspace', async () => {
    const other = await service.make.conversation(await service.make.workspace());
    for (const id of [other.id, newId(), 'nope']) await expectRefusal(check(id), 'NOT_FOUND');
  });
});
