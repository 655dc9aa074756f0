import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { NoteEntity } from './note.entity';

export const MAX_NOTE_CHARACTERS = 4096;

/** Note for colleagues. */
export class CreateNote {
  @MaxCharacters(MAX_NOTE_CHARACTERS)
  @NotBlank()
  @IsStorableText()
  body: string;
}

export type NoteResponse = Pick<NoteEntity, 'id' | 'authorAgentId' | 'body' | 'createdAt'>;

export function toNote({ id, authorAgentId, body, createdAt }: NoteResponse): NoteResponse {
  return { id, authorAgentId, body, createdAt };
}
