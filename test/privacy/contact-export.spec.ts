import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { ContactExportLine, ContactExportService } from '../../src/privacy/contact-export.service';
import { MessagingHost } from '../support/messaging-host';

describe('the export of a contact', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  async function exported(tenantId: string, contactId: string): Promise<ContactExportLine[]> {
    const lines: ContactExportLine[] = [];
    const service = host.get(ContactExportService);
    for await (const line of service.export(tenantId, contactId, SYSTEM)) lines.push(line);
    return lines;
  }

  it('has the contact, the identities, the conversations and all messages, oldest first, and nothing else', async () => {
    const workspace = await host.make.workspace();
    const author = { type: 'agent' as const, id: (await host.make.agent(workspace)).id };
    const identity = { channel: 'WHATSAPP' as const, externalId: '34600112233' };
    const contact = await host.make.contact(workspace, {
      name: 'Zoë',
      email: 'zoe@example.com',
      identity,
    });
    const first = await host.make.conversation(workspace, { contactId: contact.id });
    const second = await host.make.conversation(workspace, { contactId: contact.id });
    const other = await host.make.conversation(workspace);
    await host.make.received(workspace, other, 'Somebody else');
    // There are more messages than a page has.
    const ids = Array.from({ length: 450 }, newId);
    await host.query(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, metadata, created_at)
       SELECT $1, $2, id, 'CUSTOMER', 'old', '{"photo": 1}', now() FROM unnest($3::uuid[]) AS id`,
      [workspace.id, first.id, ids],
    );
    const sent = await host.make.sent(workspace, second, 'On its way.');
    const note = await host.get(NotesService).create(workspace.id, second.id, { body: 'Ask Ana.' }, author);

    const [head, second_, ...rest] = await exported(workspace.id, contact.id);
    const { identities, ...values } = contact;
    expect(head).toEqual({ type: 'contact', ...values });
    expect(second_).toEqual({ type: 'identity', ...identities[0] });
    expect(rest.map(({ type }) => type)).toEqual([
      'conversation',
      ...ids.map(() => 'message'),
      'conversation',
      'message',
      'note',
    ]);
    expect(rest.slice(1, 451).map((line) => 'id' in line && line.id)).toEqual(ids);
    expect(rest[1]).toMatchObject({ conversationId: first.id, body: 'old', metadata: { photo: 1 } });
    expect(rest.at(-1)).toEqual({ type: 'note', conversationId: second.id, ...note });
    expect(rest.at(-2)).toEqual({
      type: 'message',
      conversationId: second.id,
      ...sent,
      firstBody: null,
      replacedBodies: null,
      metadata: null,
    });
  });

  it('is of no contact of another workspace', async () => {
    const [own, other] = [await host.make.workspace(), await host.make.workspace()];
    const contact = await host.make.contact(other);
    for (const id of [contact.id, newId(), 'nope'])
      await expect(exported(own.id, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
