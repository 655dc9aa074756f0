import { newId } from '../../../src/common/ids';
import { SYSTEM } from '../../../src/common/principal';
import { ContactExportLine, ContactExportService } from '../../../src/privacy/contact-export.service';
import { Dashboard } from '../../support/dashboard';

describe('the export of a contact', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    dashboard = await Dashboard.create();
  });
  afterAll(() => dashboard.close());

  async function exported(tenantId: string, contactId: string): Promise<ContactExportLine[]> {
    const lines: ContactExportLine[] = [];
    const service = dashboard.get(ContactExportService);
    for await (const line of service.export(tenantId, contactId, SYSTEM)) lines.push(line);
    return lines;
  }

  it('has the contact, the identities, the conversations and all messages, oldest first, and nothing else', async () => {
    const workspace = await dashboard.make.workspace();
    await dashboard.make.agent(workspace);
    const identity = { channel: 'WHATSAPP' as const, externalId: '34600112233' };
    const contact = await dashboard.make.contact(workspace, {
      name: 'Zoë',
      email: 'zoe@example.com',
      identity,
    });
    const first = await dashboard.make.conversation(workspace, { contactId: contact.id });
    const second = await dashboard.make.conversation(workspace, { contactId: contact.id });
    const other = await dashboard.make.conversation(workspace);
    await dashboard.make.received(workspace, other, 'Somebody else');
    // There are more messages than a page has.
    const ids = Array.from({ length: 450 }, newId);
    await dashboard.query(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, metadata, created_at)
       SELECT $1, $2, id, 'CUSTOMER', 'old', '{"photo": 1}', now() FROM unnest($3::uuid[]) AS id`,
      [workspace.id, first.id, ids],
    );
    const sent = await dashboard.make.sent(workspace, second, 'On its way.');

    const [head, second_, ...rest] = await exported(workspace.id, contact.id);
    const { identities, ...values } = contact;
    expect(head).toEqual({ type: 'contact', ...values });
    expect(second_).toEqual({ type: 'identity', ...identities[0] });
    expect(rest.map(({ type }) => type)).toEqual([
      'conversation',
      ...ids.map(() => 'message'),
      'conversation',
      'message',
    ]);
    expect(rest.slice(1, 451).map((line) => 'id' in line && line.id)).toEqual(ids);
    expect(rest[1]).toMatchObject({ conversationId: first.id, body: 'old', metadata: { photo: 1 } });
    expect(rest.at(-1)).toEqual({ type: 'message', conversationId: second.id, ...sent, metadata: null });
  });

  it('is of no contact of another workspace', async () => {
    const [own, other] = [await dashboard.make.workspace(), await dashboard.make.workspace()];
    const contact = await dashboard.make.contact(other);
    for (const id of [contact.id, newId(), 'nope'])
      await expect(exported(own.id, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
