import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import {
  type Actor,
  type AuditExportFormat,
  AuditService,
  type AuditValues,
  ListAuditEntriesQuery,
  type AuditEntry,
  type Page,
} from 'conversation-messaging-service';
import type { Response } from 'express';
import type { AuditPage, AuditEntryResponse } from '../api';
import { CurrentActor } from '../http/access.decorators';
import { Downloads } from '../http/downloads';
import { LimitedTo } from '../http/limit.guard';
import { ExportAuditQuery } from './audit.dto';

/** Exports that a person can start in a minute: few, because each reads the whole audit log. */
const EXPORTS_A_MINUTE = 5;

const EXPORTS: Record<AuditExportFormat, { name: string; type: string }> = {
  ndjson: { name: 'audit-log.ndjson', type: 'application/x-ndjson' },
  csv: { name: 'audit-log.csv', type: 'text/csv; charset=utf-8' },
};

@Controller('api/workspaces/:workspaceId/audit-entries')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly downloads: Downloads,
  ) {}

  @Get()
  async list(
    @Param('workspaceId') workspaceId: string,
    @Query() query: ListAuditEntriesQuery,
    @CurrentActor() actor: Actor,
  ): Promise<AuditPage> {
    return toAuditPage(await this.audit.list(workspaceId, query, actor));
  }

  /** Lists the values that a person can choose in each filter of the audit log. */
  @Get('values')
  values(@Param('workspaceId') workspaceId: string, @CurrentActor() actor: Actor): Promise<AuditValues> {
    return this.audit.listValues(workspaceId, actor);
  }

  @Get('export')
  @LimitedTo(EXPORTS_A_MINUTE, 'audit-export')
  export(
    @Param('workspaceId') workspaceId: string,
    @Query() { format, ...filter }: ExportAuditQuery,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const lines = this.audit.export(workspaceId, filter, actor, format);
    return this.downloads.sendLines(workspaceId, lines, EXPORTS[format], response);
  }
}

function toAuditPage({ data, nextCursor }: Page<AuditEntry>): AuditPage {
  return { data: data.map(toAuditEntry), nextCursor };
}

function toAuditEntry({ tenantId: _, ...entry }: AuditEntry): AuditEntryResponse {
  return entry;
}
