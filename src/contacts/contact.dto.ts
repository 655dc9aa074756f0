import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { PageQuery } from '../common/page';
import { validatorFault } from '../common/error-texts';
import {
  countCharacters,
  IsDateTime,
  IsNullable,
  IsOpaque,
  IsStorableText,
  isStorableText,
  MaxCharacters,
  NotBlank,
  IsEmailAddress,
} from '../common/validators';
import { ContactIdentityEntity } from './contact-identity.entity';
import { ContactEntity, VERIFIED_FIELDS, type VerifiedField } from './contact.entity';
import { ListedContact } from './contact-columns';

export const MAX_SEARCH_CHARACTERS = 200;
export const MAX_ATTRIBUTES = 50;
export const MAX_ATTRIBUTE_NAME = 100;
export const MAX_ATTRIBUTE_TEXT = 500;
/** Limit of all attributes of a contact together, in bytes of JSON: each event of the contact has them. */
export const MAX_ATTRIBUTES_BYTES = 16 * 1024;
const MAX_NAME = 200;
const MAX_PHONE = 50;
const MAX_EXTERNAL_ID = 200;

export type AttributeValue = string | number | boolean;

/** Schema of the attributes that a request gives. */
const ATTRIBUTES = {
  type: 'object' as const,
  maxProperties: MAX_ATTRIBUTES,
  additionalProperties: {
    oneOf: [{ type: 'string', maxLength: MAX_ATTRIBUTE_TEXT }, { type: 'number' }, { type: 'boolean' }],
  },
  description: `Other facts that the workspace keeps: up to ${MAX_ATTRIBUTES}, by names of at most ${MAX_ATTRIBUTE_NAME} characters, and 16 KiB of JSON in all.`,
  example: { city: 'Valencia' },
};

function AreAttributes(): PropertyDecorator {
  return applyDecorators(
    ValidateBy(
      { name: 'areSmall', validator: { validate: areSmallAttributes } },
      validatorFault('attributes_too_large', { max: MAX_ATTRIBUTES_BYTES }),
    ),
    ValidateBy(
      { name: 'areAttributes', validator: { validate: areAttributes } },
      validatorFault('not_attributes', {
        max: MAX_ATTRIBUTES,
        name: MAX_ATTRIBUTE_NAME,
        text: MAX_ATTRIBUTE_TEXT,
      }),
    ),
  );
}

/** Reports whether the attributes of a contact are within the limit of their bytes. */
export function areSmallAttributes(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') <= MAX_ATTRIBUTES_BYTES;
}

function areAttributes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.length <= MAX_ATTRIBUTES && entries.every(([name, one]) => isName(name) && isAttribute(one));
}

function isName(name: string): boolean {
  return isStorableText(name) && name.trim() !== '' && countCharacters(name) <= MAX_ATTRIBUTE_NAME;
}

function isAttribute(value: unknown): value is AttributeValue {
  if (typeof value === 'string') return isStorableText(value) && countCharacters(value) <= MAX_ATTRIBUTE_TEXT;
  return typeof value === 'boolean' || Number.isFinite(value);
}

/** Id of a person on one channel. */
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
  @MaxCharacters(MAX_EXTERNAL_ID)
  @NotBlank()
  @IsStorableText()
  externalId: string;
}

/** New contact. A field that is left out is unknown. */
@ApiSchema({ name: 'ContactInput' })
export class CreateContact {
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_NAME, example: 'Zoë Martín' })
  @IsOptional()
  @MaxCharacters(MAX_NAME)
  @NotBlank()
  @IsStorableText()
  name?: string;

  @ApiPropertyOptional({ format: 'email', example: 'zoe@example.com' })
  @IsOptional()
  @IsEmailAddress()
  email?: string;

  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_PHONE, example: '+34 600 11 22 33' })
  @IsOptional()
  @MaxCharacters(MAX_PHONE)
  @NotBlank()
  @IsStorableText()
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

/** Edit of a contact. What it does not give stays as it is; null empties a field. */
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
  @MaxCharacters(MAX_NAME)
  @NotBlank()
  @IsStorableText()
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
  @MaxCharacters(MAX_PHONE)
  @NotBlank()
  @IsStorableText()
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

/** Contact of the API. An unknown value is null, never left out. */
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

/** Contact as an agent edits it. */
export interface ContactDetail extends ContactResponse {
  /** Time at which the contact was erased, after which it can't be edited; null if it was not. */
  erasedAt: Date | null;
}

/** Contact without the ids on channels. */
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

export function toContactDetail(contact: ContactEntity, identities: ContactIdentityEntity[]): ContactDetail {
  return { ...toContact(contact, identities), erasedAt: contact.erasedAt };
}

export function toContactAlone(contact: ListedContact): ContactAlone {
  const { id, name, email, phone, avatarUrl, verified, attributes, createdAt, updatedAt } = contact;
  return { id, name, email, phone, avatarUrl, verified, attributes, createdAt, updatedAt };
}
