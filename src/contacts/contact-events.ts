import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { OutboxService } from '../outbox/outbox.service';
import { ContactResponse, toContact } from './contact.dto';
import { ContactEntity } from './contact.entity';
import { IdentityName } from './contact-identity.entity';

@Injectable()
export class ContactEvents {
  constructor(private readonly outbox: OutboxService) {}

  tellCreatedPipelined(tx: Transaction, contact: ContactEntity, identities: IdentityName[]): void {
    const { id: contactId, tenantId } = contact;
    const response = toContact(
      contact,
      identities.map((one) => ({ ...one, contactId })),
    );
    const data = { contactId, contact: toEventContact(response) };
    this.outbox.appendPipelined(tx, tenantId, 'contact.created', data);
  }

  tellUpdatedPipelined(
    tx: Transaction,
    tenantId: string,
    changed: EventData<'contact.updated'>['changed'],
    contact: ContactResponse,
  ): void {
    const data = { contactId: contact.id, changed, contact: toEventContact(contact) };
    this.outbox.appendPipelined(tx, tenantId, 'contact.updated', data);
  }

  tellMergedPipelined(tx: Transaction, tenantId: string, contactId: string, mergedContactId: string): void {
    this.outbox.appendPipelined(tx, tenantId, 'contact.merged', { contactId, mergedContactId });
  }
}

function toEventContact(contact: ContactResponse): EventData<'contact.created'>['contact'] {
  const { createdAt, updatedAt } = contact;
  return { ...contact, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
