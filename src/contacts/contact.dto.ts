import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { PageQuery } from '../common/page';
import {
  IsDateTime,
  IsEmailAddress,
  IsNullable,
  IsOpaque,
  IsStorableText,
  IsText,
  MaxCharacters,
} from '../common/validators';
import { AreAttributes, ATTRIBUTES, type AttributeValue } from './contact-attributes';
import { ContactIdentityEntity } from './contact-identity.entity';
import { ListedContact, VERIFIED_FIELDS, type VerifiedField } from './contact.entity';

export const MAX_SEARCH_CHARACTERS = 200;
const MAX_NAME = 200;
const MAX_PHONE = 50;
const MAX_EXTERNAL_ID = 200;

@ApiSchema({ name: 'ContactIdentityInput' })
export class NewIdentity {
  @ApiProperty({ enum: CHANNELS, enumName: 'Channel', example: 'WHATSAPP' })
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  @ApiProperty({
    minLength: 1,
    maxLength: MAX_EXTERNAL_ID,
    description:
      "The provider's id of the person: a phone number with its country code, a business-scoped id, a chat id, a page-scoped " +
      'id. The spacing and the prefix of a phone number do not matter: it is stored in digits.',
    example: '34600112233',
  })
  @IsText(MAX_EXTERNAL_ID)
  externalId: string;
}

@ApiSchema({ name: 'ContactInput' })
export class CreateContact {
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_NAME, example: 'Zoë Martín' })
  @IsOptional()
  @IsText(MAX_NAME)
  name?: string;

  @ApiPropertyOptional({ format: 'email', example: 'zoe@example.com' })
  @IsOptional()
  @IsEmailAddress()
  email?: string;

  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_PHONE, example: '+34 600 11 22 33' })
  @IsOptional()
  @IsText(MAX_PHONE)
  phone?: string;

  @ApiPropertyOptional({ ...ATTRIBUTES, description: `${ATTRIBUTES.description} None by default.` })
  @IsOptional()
  @IsOpaque()
  @AreAttributes()
  attributes?: Record<string, AttributeValue>;

  @ApiPropertyOptional({
    description:
      'The id on a channel, by which the workspace can write before the contact has written. No other contact may have it.',
    example: { channel: 'WHATSAPP', externalId: '34600112233' },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested()
  @Type(() => NewIdentity)
  identity?: NewIdentity;
}

/** Edit of a contact. A field that is left out does not change; null empties it. */
@ApiSchema({ name: 'ContactChanges' })
export class UpdateContact {
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    example: '2026-11-18T16:20:00.000Z',
    description:
      'The `updatedAt` of the contact that you edit: if it was changed since, the edit is refused with 409. Without it ' +
      'the edit applies to the contact as it is by now. A body with it alone is refused.',
  })
  @IsOptional()
  @IsDateTime()
  updatedAt?: Date;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: MAX_NAME,
    example: 'Zoë Martín',
  })
  @IsNullable()
  @IsText(MAX_NAME)
  name?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, format: 'email', example: 'zoe@example.com' })
  @IsNullable()
  @IsEmailAddress()
  email?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: MAX_PHONE,
    example: '+34 600 11 22 33',
  })
  @IsNullable()
  @IsText(MAX_PHONE)
  phone?: string | null;

  @ApiPropertyOptional({
    ...ATTRIBUTES,
    description: `${ATTRIBUTES.description} They replace all earlier ones.`,
  })
  @IsOptional()
  @IsOpaque()
  @AreAttributes()
  attributes?: Record<string, AttributeValue>;
}

export class ListContactsQuery extends PageQuery {
  @ApiPropertyOptional({
    maxLength: MAX_SEARCH_CHARACTERS,
    description:
      "Searches name, e-mail and phone. Case, accents and a phone's spelling do not matter. A search that takes too " +
      'long is answered with 503: search for more of the text.',
    example: 'martín',
  })
  @IsOptional()
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  q?: string;
}

@ApiSchema({ name: 'ContactIdentity' })
export class ContactIdentityResponse {
  @ApiProperty({ enum: CHANNELS, enumName: 'Channel', example: 'WHATSAPP' })
  channel: Channel;

  @ApiProperty({ example: '34600112233', description: "The provider's id of the person." })
  externalId: string;
}

/** Contact in the API. An unknown value is null, never left out. */
@ApiSchema({ name: 'Contact' })
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
    enumName: 'VerifiedField',
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

export interface ContactDetail extends ContactResponse {
  /** Time at which the contact was erased; null if it was not. An erased contact cannot be edited. */
  erasedAt: Date | null;
}

export type ContactAlone = Omit<ContactResponse, 'identities'>;

export function toContact(
  contact: ListedContact,
  identities: Pick<ContactIdentityEntity, 'channel' | 'externalId' | 'contactId'>[],
): ContactResponse {
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
