import { IsOptional } from 'class-validator';
import { IsDateTime, IsNullable, IsStorableText, MaxCharacters } from '../../common/validators';

/** Maximum length of a draft: more than that of a message, because the agent may still shorten the draft. */
export const MAX_DRAFT_CHARACTERS = 10_000;
/** Maximum number of drafts of one agent. If there are more, the oldest drafts are deleted. */
export const MAX_DRAFTS = 200;

/** New text of a draft; an empty text deletes the draft. */
export class SaveDraft {
  @MaxCharacters(MAX_DRAFT_CHARACTERS)
  @IsStorableText()
  body: string;

  /** Time at which the agent wrote the text, by the device's clock; the present time by default. */
  @IsOptional()
  @IsDateTime()
  editedAt?: Date;

  /** The `updatedAt` of the draft that the device edited; null if it had no draft. */
  @IsNullable()
  @IsDateTime()
  basedOn?: Date | null;
}

export interface DraftResponse {
  /** Empty if there is no draft. */
  body: string;
  /** Null if there is no draft. */
  updatedAt: Date | null;
}

export interface DraftSummary {
  conversationId: string;
  updatedAt: Date;
}
