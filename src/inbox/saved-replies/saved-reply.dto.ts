import { PartialType } from '@nestjs/swagger';
import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { MAX_BODY_CHARACTERS } from '../../messages/message.dto';
import { SavedReplyEntity } from './saved-reply.entity';

/** Limit of the saved replies of a workspace, because they are read together. */
export const MAX_SAVED_REPLIES = 200;
export const MAX_SAVED_REPLY_NAME = 80;

export class CreateSavedReply {
  @MaxCharacters(MAX_SAVED_REPLY_NAME)
  @NotBlank()
  @IsStorableText()
  name: string;

  /** Text; its variables are those of `SAVED_REPLY_VARIABLES`, as `{{contact.firstName|there}}`. */
  @MaxCharacters(MAX_BODY_CHARACTERS)
  @NotBlank()
  @IsStorableText()
  body: string;
}

/** Changes of a saved reply; what is left out stays. */
export class UpdateSavedReply extends PartialType(CreateSavedReply) {}

export type SavedReplyResponse = Omit<SavedReplyEntity, 'tenantId'>;

export function toSavedReply(reply: SavedReplyEntity): SavedReplyResponse {
  const { id, name, body, createdAt, updatedAt } = reply;
  return { id, name, body, createdAt, updatedAt };
}
