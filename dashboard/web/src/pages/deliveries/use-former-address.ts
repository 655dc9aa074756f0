import type { AuditEntry, Page } from '../../api/types';
import { useRead } from '../../api/workspace';
import { useFormats, useTexts } from '../../i18n/locale';

/** Number of the endpoint's latest edits that are searched for former addresses. */
const EDITS = 100;

/** Returns a function that says where an attempt was sent, if the endpoint's address has changed since. */
export function useFormerAddress(endpointId: string): FormerAddress {
  const texts = useTexts();
  const formats = useFormats();
  const edits = useRead<Page<AuditEntry>>(
    'audit-entries',
    { action: 'webhook_endpoint.updated', entityId: endpointId, limit: EDITS },
    { refreshMs: false },
  );
  return (at) => {
    const later = edits.data?.data.filter(({ before, createdAt }) => before?.['url'] && createdAt > at);
    const move = later?.at(-1);
    return move && texts.attempts.sentTo(String(move.before!['url']), formats.moment(move.createdAt));
  };
}

export type FormerAddress = (at: string) => string | undefined;
