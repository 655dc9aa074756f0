import { applyDecorators } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { OmitType } from '@nestjs/swagger';
import { PageQuery } from '../common/page';
import { IsMoment, IsStorableText, MaxCharacters } from '../common/validators';

const MAX_TEXT = 200;
const IsFilterText = () => applyDecorators(IsOptional(), MaxCharacters(MAX_TEXT), IsStorableText());

/** Filters of the audit log. An entry must pass every filter that is given. */
export class ListAuditEntriesQuery extends PageQuery {
  @IsFilterText()
  action?: string;

  /** Actor as an `audit.event` names it: the id of an agent or key, `operator:<name>`, or `system`. */
  @IsFilterText()
  actor?: string;

  /** Type of the changed thing, such as `api_key`. */
  @IsFilterText()
  entity?: string;

  @IsFilterText()
  entityId?: string;

  /** Earliest time of an entry, inclusive. */
  @IsOptional()
  @IsMoment()
  since?: Date;

  /** Latest time of an entry, exclusive. */
  @IsOptional()
  @IsMoment()
  until?: Date;
}

/** Values that occur in a workspace's audit log, as choices for its filters. */
export interface AuditValues {
  actions: string[];
  entities: string[];
  actors: string[];
}

export class ExportAuditEntriesQuery extends OmitType(ListAuditEntriesQuery, ['limit', 'cursor']) {}

export const AUDIT_EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type AuditExportFormat = (typeof AUDIT_EXPORT_FORMATS)[number];
