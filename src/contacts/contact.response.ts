import { Channel } from '../common/channel';
import { ContactIdentityEntity } from './contact-identity.entity';
import { ContactEntity } from './contact.entity';

/** A contact as one channel knows it. */
export class ContactIdentityResponse {
  channel: Channel;
  /** The provider's id of the person. */
  externalId: string;
}

/** Someone the workspace talks with. What is unknown is null, never left out. */
export class ContactResponse {
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  avatarUrl: string | null;
  identities: ContactIdentityResponse[];
  attributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export function toContact(contact: ContactEntity, identities: ContactIdentityEntity[]): ContactResponse {
  const { id, name, email, phone, avatarUrl, attributes, createdAt, updatedAt } = contact;
  return {
    id,
    name,
    email,
    phone,
    avatarUrl,
    identities: identities
      .filter(({ contactId }) => contactId === id)
      .map(({ channel, externalId }) => ({ channel, externalId })),
    attributes,
    createdAt,
    updatedAt,
  };
}
