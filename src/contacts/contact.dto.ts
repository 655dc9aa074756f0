import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsOptional } from 'class-validator';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export const MAX_SEARCH_CHARACTERS = 200;

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
