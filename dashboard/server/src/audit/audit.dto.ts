import {
  AUDIT_EXPORT_FORMATS,
  type AuditExportFormat,
  ExportAuditEntriesQuery,
} from 'conversation-messaging-service';
import { IsIn } from 'class-validator';

export class ExportAuditQuery extends ExportAuditEntriesQuery {
  @IsIn(AUDIT_EXPORT_FORMATS)
  format: AuditExportFormat = 'ndjson';
}
