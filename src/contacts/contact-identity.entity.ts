import { Channel } from '../common/channel-descriptors';

/** Id of a contact on one channel, where a contact can have several. It is unique in its workspace. */
export interface ContactIdentityEntity {
  tenantId: string;
  channel: Channel;
  /** Provider's id of the person: a phone number, a chat id, a page-scoped id. */
  externalId: string;
  contactId: string;
  /** Time since which the contact has it. */
  createdAt: Date;
  /** Time at which the provider said that the person has another id instead; null if it did not. */
  replacedAt: Date | null;
}

/** Id of a person on a channel. */
export type IdentityName = Pick<ContactIdentityEntity, 'channel' | 'externalId'>;
