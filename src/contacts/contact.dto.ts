import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsEmail, IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export const MAX_SEARCH_CHARACTERS = 200;

/** How a channel knows a person. */
export class NewIdentity {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** The provider's id of them: a phone number, a chat id, a page-scoped id. */
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  externalId: string;
}

/** A contact to be created. */
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

  /** Where replies go before they have written themselves. */
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested()
  @Type(() => NewIdentity)
  identity?: NewIdentity;
}

/** Which contacts a list shows. */
export class ListContactsQuery extends PageQuery {
  @ApiPropertyOptional({
    maxLength: MAX_SEARCH_CHARACTERS,
    description:
      "Looked for in name, e-mail and phone, whatever the case; a phone's spacing does not matter.",
    example: 'martín',
  })
  @IsOptional()
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  q?: string;
}
