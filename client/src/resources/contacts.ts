import type { Contact, ContactChanges, ListContactsQuery, ContactInput } from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { PagedList } from '../pages.ts';
import type { Transport } from '../transport.ts';

/** Customers. */
export class Contacts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists contacts, newest first; with `q`, those whose name, e-mail or phone has it. Scope:
   * `contacts:read`.
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

  /** Creates a contact, once, even if the request is repeated. Scope: `contacts:write`. */
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
