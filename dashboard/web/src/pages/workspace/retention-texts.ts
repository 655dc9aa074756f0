import type { Locale } from '../../api/types';
import { useLocale } from '../../i18n/locale';

const en = {
  title: 'Retention of messages',
  about: 'Old messages are erased every night, for ever.',
  days: 'Days to keep',
  daysAdvice: 'Leave it empty to keep all messages.',
  daysRange: (max: number) => `From 1 to ${max} days.`,
  ownersAlone: 'Only owners set fewer days.',
  saved: 'Saved. It takes effect in the next night.',
  confirm: 'Erase old messages?',
  confirmAdvice: (days: number) =>
    `Messages older than ${days} ${days === 1 ? 'day' : 'days'} are erased in the next night. This can’t be undone.`,
  erase: 'Erase old messages',
};

type RetentionTexts = typeof en;

const de: RetentionTexts = {
  title: 'Aufbewahrung von Nachrichten',
  about: 'Alte Nachrichten werden jede Nacht gelöscht, für immer.',
  days: 'Tage der Aufbewahrung',
  daysAdvice: 'Leer lassen, um alle Nachrichten zu behalten.',
  daysRange: (max: number) => `Von 1 bis ${max} Tagen.`,
  ownersAlone: 'Weniger Tage setzen nur Eigentümer.',
  saved: 'Gespeichert. Es gilt ab der nächsten Nacht.',
  confirm: 'Alte Nachrichten löschen?',
  confirmAdvice: (days: number) =>
    `Nachrichten, die älter als ${days} ${days === 1 ? 'Tag' : 'Tage'} sind, werden in der nächsten Nacht gelöscht. ` +
    'Das lässt sich nicht rückgängig machen.',
  erase: 'Alte Nachrichten löschen',
};

const TEXTS: Record<Locale, RetentionTexts> = { en, de };

/** Returns the texts about the retention of messages. They are loaded with the page that shows them. */
export function useRetentionTexts(): RetentionTexts {
  return TEXTS[useLocale()];
}
