import type { Locale } from '../../api/types';
import { useLocale } from '../../i18n/locale';

const en = {
  title: 'Second factor',
  isDemanded: (days: number) =>
    `Everybody needs one to open this workspace. Whoever has none gets ${days} ${days === 1 ? 'day' : 'days'} to turn it on.`,
  isNotDemanded: 'Everybody decides for themselves.',
  ownFirst: 'Turn yours on first, in your account.',
  days: 'Days of grace',
  daysAdvice: 'For people without one, from now or from joining. 0 to 90.',
  demand: 'Demand it of everybody',
  change: 'Change the days',
  end: 'End the demand',
  demanded: 'Everybody needs a second factor now.',
  ended: 'Nobody needs a second factor any more.',
};

type DemandTexts = typeof en;

const de: DemandTexts = {
  title: 'Zweiter Faktor',
  isDemanded: (days: number) =>
    `Alle brauchen einen, um diesen Workspace zu öffnen. Wer keinen hat, bekommt ${days} ${days === 1 ? 'Tag' : 'Tage'} Zeit, ihn einzuschalten.`,
  isNotDemanded: 'Alle entscheiden selbst, ob sie sich mit einem zweiten Faktor anmelden.',
  ownFirst: 'Schalten Sie zuerst in Ihrem Konto Ihren eigenen zweiten Faktor ein.',
  days: 'Schonfrist in Tagen',
  daysAdvice: 'Für alle ohne zweiten Faktor, ab jetzt oder ab ihrem Beitritt. 0 bis 90.',
  demand: 'Von allen verlangen',
  change: 'Frist ändern',
  end: 'Nicht mehr verlangen',
  demanded: 'Jetzt brauchen alle einen zweiten Faktor.',
  ended: 'Niemand braucht mehr einen zweiten Faktor.',
};

const TEXTS: Record<Locale, DemandTexts> = { en, de };

/** Returns the texts about the demand for a second factor. They are loaded with the page that shows them. */
export function useDemandTexts(): DemandTexts {
  return TEXTS[useLocale()];
}
