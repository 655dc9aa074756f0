import { IsOptional } from 'class-validator';
import { OmitType } from '@nestjs/swagger';
import { PageQuery } from '../common/page';
import { IsMoment, IsStorableText, MaxCharacters } from '../common/validators';

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
  @IsMoment()
  since?: Date;

  /** Written before this time. */
  @IsOptional()
  @IsMoment()
  until?: Date;
}

/** The same for an export, which has no pages. */
export class ExportAuditEntriesQuery extends OmitType(ListAuditEntriesQuery, ['limit', 'cursor']) {}

export const AUDIT_EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type AuditExportFormat = (typeof AUDIT_EXPORT_FORMATS)[number];
