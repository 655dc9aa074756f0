import { IsOptional, IsString } from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export const MAX_BODY_CHARACTERS = 4096;

/** A customer's message, as a channel brings it. */
export class ReceiveMessage {
  @MaxCharacters(MAX_BODY_CHARACTERS)
  @NotBlank()
  @IsStorableText()
  body: string;
}

/** A message to be sent to the customer. */
export class SendMessage extends ReceiveMessage {
  /** Who it is shown as from; the workspace's first active OWNER or ADMIN when left out. */
  @IsOptional()
  @IsString()
  senderAgentId?: string;
}
