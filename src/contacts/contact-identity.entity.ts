import { Channel } from '../common/channel-descriptors';

/** Id of a contact on one channel, unique in its workspace. A contact can have several on a channel. */
export interface ContactIdentityEntity {
  tenantId: string;
  channel: Channel;
  /** Provider's id of the person: a phone number, a chat id, a page-scoped id. */
  externalId: string;
  contactId: string;
  /** Time since which the id belongs to the contact. */
  createdAt: Date;
  /** Time since which the person has another id instead, as the provider reported; null if this is valid. */
  replacedAt: Date | null;
}

export type IdentityName = Pick<ContactIdentityEntity, 'channel' | 'externalId'>;
