import { PartialType } from '@nestjs/swagger';
import { IsText } from '../../common/validators';
import { MAX_BODY_CHARACTERS } from '../../messages/message.dto';

/** Maximum number of saved replies of a workspace, because they are listed without pages. */
export const MAX_SAVED_REPLIES = 200;
export const MAX_SAVED_REPLY_NAME = 80;

export class CreateSavedReply {
  @IsText(MAX_SAVED_REPLY_NAME)
  name: string;

  /** Text with variables of `SAVED_REPLY_VARIABLES`, such as `{{contact.firstName|there}}`. */
  @IsText(MAX_BODY_CHARACTERS)
  body: string;
}

/** Changes of a saved reply. A field that is left out does not change. */
export class UpdateSavedReply extends PartialType(CreateSavedReply) {}

export interface SavedReplyResponse {
  id: string;
  /** Name by which agents find the reply, unique in the workspace regardless of case. */
  name: string;
  body: string;
  createdAt: Date;
  updatedAt: Date;
}
