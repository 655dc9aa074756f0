import type { Conversation } from '../../../api/types';
import { useFormats, useTexts } from '../../../i18n/locale';

/** Returns a function that says until when a conversation is snoozed, or null if it is not snoozed. */
export function useSnoozeText(): (of: Pick<Conversation, 'status' | 'snoozedUntil'>) => string | null {
  const { inbox } = useTexts();
  const formats = useFormats();
  return ({ status, snoozedUntil }) => {
    if (status !== 'SNOOZED') return null;
    return snoozedUntil ? inbox.snoozedUntil(formats.minute(snoozedUntil)) : inbox.snoozedUntilCustomer;
  };
}
