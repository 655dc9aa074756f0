import type { Contact, ContactChanges, ListContactsQuery, ContactInput } from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Reads, creates and changes the workspace's contacts: its customers. */
export class Contacts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists contacts, newest first. With `q`, lists only contacts whose name, e-mail address or phone number
   * contains it. Scope: `contacts:read`.
   */
  list(query?: ListContactsQuery, options?: CallOptions): PagedList<Contact> {
    return this.#transport.list(
      { operation: 'listContacts', method: 'GET', path: '/api/v1/contacts' },
      query,
      options,
    );
  }

  /** Returns a contact. Scope: `contacts:read`. */
  get(id: string, options?: CallOptions): Promise<Contact> {
    return this.#transport.send(
      { operation: 'getContact', method: 'GET', path: '/api/v1/contacts/{id}', id },
      options,
    );
  }

  /** Creates a contact. Repeated attempts create only one contact. Scope: `contacts:write`. */
  create(contact: ContactInput, options?: CreateOptions): Promise<Contact> {
    return this.#transport.send(
      {
        operation: 'createContact',
        method: 'POST',
        path: '/api/v1/contacts',
        body: contact,
        takesKey: true,
      },
      options,
    );
  }

  /** Changes a contact. Scope: `contacts:write`. */
  update(id: string, changes: ContactChanges, options?: CallOptions): Promise<Contact> {
    return this.#transport.send(
      { operation: 'updateContact', method: 'PATCH', path: '/api/v1/contacts/{id}', id, body: changes },
      options,
    );
  }
}
