import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export const MAX_BODY_CHARACTERS = 4096;

/** A customer's message, as a channel brings it. */
export class ReceiveMessage {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_BODY_CHARACTERS,
    pattern: '\\S',
    description:
      'Not blank, valid Unicode, no NUL. Instagram takes at most 1000 UTF-8 bytes, Messenger 2000 characters. ' +
      'Never split or cut.',
    example: 'Your parcel is on its way.',
  })
  @MaxCharacters(MAX_BODY_CHARACTERS)
  @NotBlank()
  @IsStorableText()
  body: string;
}

/** A message to be sent to the customer. */
export class SendMessage extends ReceiveMessage {
  @ApiPropertyOptional({
    description:
      "Who it is shown as from: an active agent or bot account. The workspace's first active OWNER or ADMIN when left out.",
    example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
  })
  @IsOptional()
  @IsString()
  senderAgentId?: string;
}
