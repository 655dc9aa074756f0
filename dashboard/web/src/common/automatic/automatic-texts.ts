import type { Locale } from '../../api/types';

/** Texts about automatic recovery, which are loaded with the pages of endpoints and the alerts. */
export const AUTOMATIC_TEXTS = {
  en: {
    title: 'Automatic recovery',
    choice: 'Recover missed events automatically',
    choiceAdvice:
      'After failures the endpoint is tried after 5 and 15 minutes, then every 30 minutes for five days. Once it answers, it gets what it has missed.',
    state: {
      missing:
        'Events were missed. The endpoint is tried in 5 minutes; if it answers a new event before, it gets them then.',
      probing: 'The endpoint is tried from time to time. Its first answer starts the recovery.',
      recovering: 'The endpoint answers. It is getting what it has missed.',
      stopped: 'Stopped.',
      inactive: 'The endpoint is inactive. Activate it, and it gets what it has missed.',
    },
    stopped: {
      rounds: 'Stopped after three rounds that did not deliver everything. Recover the rest yourself.',
      days: 'Stopped, because the endpoint did not answer for five days. Recover what it has missed yourself.',
    },
    since: 'Missed since',
    nextProbe: (probes: number) =>
      probes === 0 ? 'First try:' : `Tried ${probes === 1 ? 'once' : `${probes} times`}, next:`,
    until: 'Tried until',
    rounds: (rounds: number) => `Round ${rounds} of 3`,
    cancel: 'Cancel automatic recovery',
    dismiss: 'Watch for new misses again',
    cancelled: 'Ended. Events from now on are recovered automatically again.',
    healthy: 'On. What the endpoint misses from now on is delivered once it answers again.',
    offer: 'Events that this endpoint has missed can be delivered by themselves as soon as it answers again.',
    turnOn: 'Recover automatically',
    turnedOn: 'Automatic recovery is on.',
  },
  de: {
    title: 'Automatisches Nachholen',
    choice: 'Verpasste Ereignisse automatisch nachholen',
    choiceAdvice:
      'Nach Fehlern wird der Endpunkt nach 5 und 15 Minuten versucht, dann fünf Tage lang alle 30 Minuten. Sobald er antwortet, bekommt er, was er verpasst hat.',
    state: {
      missing:
        'Ereignisse wurden verpasst. Der Endpunkt wird in 5 Minuten versucht; nimmt er vorher ein neues an, bekommt er sie dann.',
      probing: 'Der Endpunkt wird von Zeit zu Zeit versucht. Seine erste Antwort beginnt das Nachholen.',
      recovering: 'Der Endpunkt antwortet. Er bekommt gerade, was er verpasst hat.',
      stopped: 'Beendet.',
      inactive: 'Der Endpunkt ist inaktiv. Aktivieren Sie ihn, dann bekommt er, was er verpasst hat.',
    },
    stopped: {
      rounds: 'Beendet nach drei Runden, die nicht alles zugestellt haben. Holen Sie den Rest selbst nach.',
      days: 'Beendet, weil der Endpunkt fünf Tage lang nicht geantwortet hat. Holen Sie Verpasstes selbst nach.',
    },
    since: 'Verpasst seit',
    nextProbe: (probes: number) =>
      probes === 0 ? 'Erster Versuch:' : `${probes}-mal versucht, das nächste Mal:`,
    until: 'Versucht bis',
    rounds: (rounds: number) => `Runde ${rounds} von 3`,
    cancel: 'Automatisches Nachholen abbrechen',
    dismiss: 'Wieder auf Verpasstes achten',
    cancelled: 'Beendet. Ereignisse ab jetzt werden wieder automatisch nachgeholt.',
    healthy: 'An. Was der Endpunkt ab jetzt verpasst, bekommt er, sobald er wieder antwortet.',
    offer: 'Was dieser Endpunkt verpasst hat, kann von selbst zugestellt werden, sobald er wieder antwortet.',
    turnOn: 'Automatisch nachholen',
    turnedOn: 'Automatisches Nachholen ist an.',
  },
} satisfies Record<Locale, object>;
