import { IsText } from '../../common/validators';

export const MAX_NOTE_CHARACTERS = 4096;

export class CreateNote {
  @IsText(MAX_NOTE_CHARACTERS)
  body: string;
}

/** Internal note that an agent has written in a conversation. Only agents of the workspace can read it. */
export interface NoteResponse {
  /** Id of the note and of the audit entry of its creation. */
  id: string;
  authorAgentId: string;
  body: string;
  createdAt: Date;
}
