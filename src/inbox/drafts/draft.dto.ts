import { IsOptional } from 'class-validator';
import { IsDateTime, IsNullable, IsStorableText, MaxCharacters } from '../../common/validators';

/** Limit of a draft. It is more than a message may have, because a draft may still be shortened. */
export const MAX_DRAFT_CHARACTERS = 10_000;
/** Limit of the drafts of one agent. The oldest one gives way to a new one. */
export const MAX_DRAFTS = 200;

/** New text of a draft; an empty one deletes it. */
export class SaveDraft {
  @MaxCharacters(MAX_DRAFT_CHARACTERS)
  @IsStorableText()
  body: string;

  /** Time at which the agent wrote it, by the clock of the device; the present by default. */
  @IsOptional()
  @IsDateTime()
  editedAt?: Date;

  /** The `updatedAt` of the draft that the device had before; null if it had none. */
  @IsNullable()
  @IsDateTime()
  basedOn?: Date | null;
}

export interface DraftResponse {
  /** Text; empty without a draft. */
  body: string;
  /** Time of the last change; null without a draft. */
  updatedAt: Date | null;
}

/** Conversation in which an agent has a draft. */
export interface DraftSummary {
  conversationId: string;
  updatedAt: Date;
}
