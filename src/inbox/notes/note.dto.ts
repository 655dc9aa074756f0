import { IsText } from '../../common/validators';

export const MAX_NOTE_CHARACTERS = 4096;

export class CreateNote {
  @IsText(MAX_NOTE_CHARACTERS)
  body: string;
}

/** Text of an agent in a conversation, which only colleagues can read. */
export interface NoteResponse {
  /** Id of the note and of the audit entry of its creation. */
  id: string;
  authorAgentId: string;
  body: string;
  createdAt: Date;
}
