import { ContactKey, TableDeclaration } from '../database/tables/table-declaration';
import { ContactAlone, ContactIdentityResponse, toContactAlone } from './contact.dto';
import { ContactsRepository } from './contacts.repository';

export type ContactLine = { type: 'contact' } & ContactAlone;
export type IdentityLine = { type: 'identity' } & ContactIdentityResponse;

export function contactTables(contacts: ContactsRepository): TableDeclaration[] {
  return [
    {
      name: 'contacts',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: {
        eraseContact: async (tx, contact) => {
          await contacts.erase(tx, contact);
          return false;
        },
      },
      export: { exportContact: (contact) => exportContact(contacts, contact) },
      retention: { none: 'A workspace keeps its contacts until it erases them.' },
    },
    {
      name: 'contact_identities',
      key: { tenant_id: 'uuid', channel: 'text', external_id: 'text' },
      placement: 'workspace',
      deletion: { before: ['contacts'] },
      erasure: { eraseContact: (tx, contact, count) => contacts.eraseIdentities(tx, contact, count) },
      export: { exportContact: (contact) => exportIdentities(contacts, contact) },
      retention: { none: 'A contact keeps its identities until it is erased.' },
    },
  ];
}

async function* exportContact(
  contacts: ContactsRepository,
  { tenantId, contactId }: ContactKey,
): AsyncGenerator<ContactLine> {
  const contact = await contacts.find(tenantId, contactId);
  if (!contact) return;
  yield { type: 'contact', ...toContactAlone(contact) };
}

async function* exportIdentities(
  contacts: ContactsRepository,
  { tenantId, contactId }: ContactKey,
): AsyncGenerator<IdentityLine> {
  for (const { channel, externalId } of await contacts.listIdentities(tenantId, [contactId]))
    yield { type: 'identity', channel, externalId };
}
