import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';
import { ContactIdentityEntity } from './contact-identity.entity';
import { VERIFIED_FIELDS, type VerifiedField } from './contact.entity';
import { ListedContact } from './contact-columns';

export const MAX_SEARCH_CHARACTERS = 200;

/** Id of a person on one channel. */
export class NewIdentity {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** Provider's id of the person: a phone number, a chat id, a page-scoped id. */
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  externalId: string;
}

export class CreateContact {
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  @IsOptional()
  @IsEmail({}, { message: 'must be an e-mail address' })
  email?: string;

  @IsOptional()
  @MaxCharacters(50)
  @NotBlank()
  @IsStorableText()
  phone?: string;

  /** Id on a channel, with which the workspace can write before the contact has written. */
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested()
  @Type(() => NewIdentity)
  identity?: NewIdentity;
}

export class ListContactsQuery extends PageQuery {
  @ApiPropertyOptional({
    maxLength: MAX_SEARCH_CHARACTERS,
    description:
      "Searches name, e-mail and phone. Case and a phone's spacing do not matter. A search that takes too long is " +
      'answered with 503: search for more of the text.',
    example: 'martín',
  })
  @IsOptional()
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  q?: string;
}

export class ContactIdentityResponse {
  @ApiProperty({ enum: CHANNELS, example: 'WHATSAPP' })
  channel: Channel;

  @ApiProperty({ example: '34600112233', description: "The provider's id of the person." })
  externalId: string;
}

/** Contact of the API. An unknown value is null, never left out. */
export class ContactResponse {
  @ApiProperty({ example: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6' })
  id: string;

  @ApiProperty({ type: String, nullable: true, example: 'Zoë Martín' })
  name: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'zoe@example.com' })
  email: string | null;

  @ApiProperty({ type: String, nullable: true, example: '+34 600 11 22 33' })
  phone: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  avatarUrl: string | null;

  @ApiProperty({ type: [ContactIdentityResponse], description: "The person's id on each channel." })
  identities: ContactIdentityResponse[];

  @ApiProperty({
    enum: VERIFIED_FIELDS,
    isArray: true,
    description:
      "Which of `name` and `email` the workspace's own server has signed, for a visitor who is logged in. The others may " +
      'be what the person says.',
    example: ['email'],
  })
  verified: VerifiedField[];

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Other facts that the workspace keeps.',
    example: { city: 'Valencia' },
  })
  attributes: Record<string, unknown>;

  @ApiProperty({ example: '2026-11-02T08:15:30.000Z' })
  createdAt: Date;

  @ApiProperty({ example: '2026-11-18T16:20:00.000Z' })
  updatedAt: Date;
}

/** Contact without the ids on channels. */
export type ContactAlone = Omit<ContactResponse, 'identities'>;

export function toContact(contact: ListedContact, identities: ContactIdentityEntity[]): ContactResponse {
  return {
    ...toContactAlone(contact),
    identities: identities
      .filter(({ contactId }) => contactId === contact.id)
      .map(({ channel, externalId }) => ({ channel, externalId })),
  };
}

export function toContactAlone(contact: ListedContact): ContactAlone {
  const { id, name, email, phone, avatarUrl, verified, attributes, createdAt, updatedAt } = contact;
  return { id, name, email, phone, avatarUrl, verified, attributes, createdAt, updatedAt };
}
