import type { Locale } from '../../api/types';
import { useLocale } from '../../i18n/locale';

const en = {
  title: 'Audit log',
  about: 'Who changed what, from where and when. Entries are kept for ever.',
  exportCsv: 'Export CSV',
  exportJson: 'Export JSON',
  when: 'When',
  action: 'Action',
  actor: 'Who',
  actors: { agent: 'Agent', api_key: 'API key', operator: 'Operator', system: 'The system' },
  entity: 'Thing',
  entityId: 'Id',
  onlyOf: (id: string) => `Only entries of ${id}`,
  changes: 'Changes',
  before: 'before',
  details: 'Details',
  show: 'Show',
  none: 'There is no entry yet',
  noneMatch: 'No entry matches',
  noneAdvice: 'Every change of a setting writes one.',
};

type AuditTexts = typeof en;

const de: AuditTexts = {
  title: 'Audit-Log',
  about: 'Wer was geändert hat, von wo und wann. Einträge bleiben für immer.',
  exportCsv: 'CSV exportieren',
  exportJson: 'JSON exportieren',
  when: 'Wann',
  action: 'Aktion',
  actor: 'Wer',
  actors: { agent: 'Agent', api_key: 'API-Schlüssel', operator: 'Betreiber', system: 'Das System' },
  entity: 'Gegenstand',
  entityId: 'ID',
  onlyOf: (id: string) => `Nur Einträge zu ${id}`,
  changes: 'Änderungen',
  before: 'vorher',
  details: 'Einzelheiten',
  show: 'Zeigen',
  none: 'Es gibt noch keinen Eintrag',
  noneMatch: 'Kein Eintrag passt',
  noneAdvice: 'Jede Änderung einer Einstellung schreibt einen.',
};

const TEXTS: Record<Locale, AuditTexts> = { en, de };

/** Returns the texts about the audit log. They are loaded with the page that shows them. */
export function useAuditTexts(): AuditTexts {
  return TEXTS[useLocale()];
}
