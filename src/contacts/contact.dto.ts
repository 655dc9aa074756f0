import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export const MAX_SEARCH_CHARACTERS = 200;

/** A person's id on one channel. */
export class NewIdentity {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** The provider's id of the person: a phone number, a chat id, a page-scoped id. */
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

  /** Lets the workspace write first, before the contact has written. */
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested()
  @Type(() => NewIdentity)
  identity?: NewIdentity;
}

export class ListContactsQuery extends PageQuery {
  @ApiPropertyOptional({
    maxLength: MAX_SEARCH_CHARACTERS,
    description: "Searches name, e-mail and phone. Case and a phone's spacing do not matter.",
    example: 'martín',
  })
  @IsOptional()
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  q?: string;
}
