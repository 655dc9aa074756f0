import { Type } from 'class-transformer';
import { IsDate, IsOptional } from 'class-validator';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters } from '../common/validators';

const MAX_TEXT = 200;

/** Filters the audit log. An entry must pass every filter that is given. */
export class ListAuditEntriesQuery extends PageQuery {
  /** `api_key.revoked`. */
  @IsOptional()
  @MaxCharacters(MAX_TEXT)
  @IsStorableText()
  action?: string;

  /** As an `audit.event` names its `actorId`: the id of an agent or key, `operator:<name>`, or `system`. */
  @IsOptional()
  @MaxCharacters(MAX_TEXT)
  @IsStorableText()
  actor?: string;

  /** `api_key`. */
  @IsOptional()
  @MaxCharacters(MAX_TEXT)
  @IsStorableText()
  entity?: string;

  @IsOptional()
  @MaxCharacters(MAX_TEXT)
  @IsStorableText()
  entityId?: string;

  /** Written at this time or later. */
  @IsOptional()
  @IsDate({ message: 'must be an ISO 8601 date' })
  @Type(() => Date)
  since?: Date;

  /** Written before this time. */
  @IsOptional()
  @IsDate({ message: 'must be an ISO 8601 date' })
  @Type(() => Date)
  until?: Date;
}
