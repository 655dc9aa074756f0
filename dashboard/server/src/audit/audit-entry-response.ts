import type { AuditEntry, Page } from 'conversation-messaging-service';
import type { AuditEntryResponse, AuditPage } from '../api';

export function toAuditPage({ data, nextCursor }: Page<AuditEntry>): AuditPage {
  return { data: data.map(toAuditEntry), nextCursor };
}

function toAuditEntry({ tenantId: _, ...entry }: AuditEntry): AuditEntryResponse {
  return entry;
}
