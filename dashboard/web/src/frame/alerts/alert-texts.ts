import type { AlertKind, Locale } from '../../api/types';

interface AlertText {
  title: string;
  advice: string;
  /** Name of the page that mends it. */
  wayOut: string;
}

interface AlertTexts {
  /** Text of the mark in the navigation. */
  open: (count: number) => string;
  /** Text of the link to the alerts that a page leaves out. */
  more: (count: number) => string;
  since: (moment: string) => string;
  kinds: Record<AlertKind, AlertText>;
}

/** Texts of alerts. They are loaded with the alerts, after the page. */
export const ALERT_TEXTS: Record<Locale, AlertTexts> = {
  en: {
    open: (count) => (count === 1 ? '1 alert' : `${count} alerts`),
    more: (count) => (count === 1 ? '1 more alert' : `${count} more alerts`),
    since: (moment) => `Since ${moment}.`,
    kinds: {
      ENDPOINT_FAILING: {
        title: 'A webhook endpoint fails',
        advice: 'It no longer answers with success, and a delivery was given up.',
        wayOut: 'To the endpoint',
      },
      ENDPOINT_SWITCHED_OFF: {
        title: 'A webhook endpoint was switched off',
        advice: 'It failed for days, or answered that it is gone. It gets no events until you switch it on.',
        wayOut: 'To the endpoint',
      },
      RECOVERY_FINISHED: {
        title: 'A webhook endpoint has recovered',
        advice: 'It got all events that it had missed.',
        wayOut: 'To the endpoint',
      },
      RECOVERY_STOPPED: {
        title: 'The recovery of a webhook endpoint stopped',
        advice: 'It still misses events. Start a recovery when it works.',
        wayOut: 'To the endpoint',
      },
      CHANNEL_NEEDS_CREDENTIALS: {
        title: 'A channel needs new credentials',
        advice: 'Its provider refuses the ones that are stored, so replies are not sent.',
        wayOut: 'To the channels',
      },
      CHANNEL_RECEIVES_NOTHING: {
        title: 'A channel receives nothing',
        advice: 'Its provider cannot deliver to this service, or delivers to nobody or elsewhere.',
        wayOut: 'To the channels',
      },
      REPLIES_FAILING: {
        title: 'Replies over a channel fail',
        advice: 'The last five all failed. The conversations say why.',
        wayOut: 'To the channels',
      },
      REPLY_UNKNOWN: {
        title: 'A reply may not have arrived',
        advice: 'Its provider has not said whether it has. Send it again, or dismiss it.',
        wayOut: 'To the conversation',
      },
      KEY_ENDING: {
        title: 'An API key is about to end',
        advice: 'Make a new one, and give it to the program that uses the old one.',
        wayOut: 'To the API keys',
      },
      TRIAL_ENDING: {
        title: 'The trial is about to end, or has ended',
        advice:
          'After its end, agents and programs can read alone. Ask whoever runs the service for a paid plan.',
        wayOut: 'To the workspace',
      },
      FILES_NEARLY_FULL: {
        title: 'The space for files is nearly full',
        advice: 'When it is full, no file can be sent or received.',
        wayOut: 'To the workspace',
      },
    },
  },
  de: {
    open: (count) => (count === 1 ? '1 Warnung' : `${count} Warnungen`),
    more: (count) => (count === 1 ? '1 weitere Warnung' : `${count} weitere Warnungen`),
    since: (moment) => `Seit ${moment}.`,
    kinds: {
      ENDPOINT_FAILING: {
        title: 'Ein Webhook-Endpunkt ist gestört',
        advice: 'Er antwortet nicht mehr mit Erfolg, und eine Zustellung wurde aufgegeben.',
        wayOut: 'Zum Endpunkt',
      },
      ENDPOINT_SWITCHED_OFF: {
        title: 'Ein Webhook-Endpunkt wurde abgeschaltet',
        advice:
          'Er war tagelang gestört, oder er antwortete, es gebe ihn nicht mehr. Er bekommt nichts, bis Sie ihn einschalten.',
        wayOut: 'Zum Endpunkt',
      },
      RECOVERY_FINISHED: {
        title: 'Ein Webhook-Endpunkt ist wieder vollständig',
        advice: 'Er hat alle Ereignisse bekommen, die ihm fehlten.',
        wayOut: 'Zum Endpunkt',
      },
      RECOVERY_STOPPED: {
        title: 'Das Nachholen für einen Webhook-Endpunkt hat aufgehört',
        advice: 'Ihm fehlen noch Ereignisse. Holen Sie sie nach, sobald er wieder geht.',
        wayOut: 'Zum Endpunkt',
      },
      CHANNEL_NEEDS_CREDENTIALS: {
        title: 'Ein Kanal braucht neue Zugangsdaten',
        advice: 'Sein Anbieter lehnt die gespeicherten ab, deshalb werden Antworten nicht gesendet.',
        wayOut: 'Zu den Kanälen',
      },
      CHANNEL_RECEIVES_NOTHING: {
        title: 'Ein Kanal empfängt nichts',
        advice: 'Sein Anbieter erreicht diesen Dienst nicht, oder er stellt niemandem oder anderswo zu.',
        wayOut: 'Zu den Kanälen',
      },
      REPLIES_FAILING: {
        title: 'Antworten über einen Kanal schlagen fehl',
        advice: 'Die letzten fünf sind alle fehlgeschlagen. In den Unterhaltungen steht, warum.',
        wayOut: 'Zu den Kanälen',
      },
      REPLY_UNKNOWN: {
        title: 'Eine Antwort ist vielleicht nicht angekommen',
        advice:
          'Der Anbieter hat nicht gesagt, ob sie angekommen ist. Senden Sie sie noch einmal, oder erklären Sie sie für erledigt.',
        wayOut: 'Zur Unterhaltung',
      },
      KEY_ENDING: {
        title: 'Ein API-Schlüssel läuft bald ab',
        advice: 'Machen Sie einen neuen, und geben Sie ihn dem Programm, das den alten benutzt.',
        wayOut: 'Zu den API-Schlüsseln',
      },
      TRIAL_ENDING: {
        title: 'Die Testphase endet bald oder ist zu Ende',
        advice:
          'Danach können Agenten und Programme nur noch lesen. Für einen bezahlten Plan wenden Sie sich an die Betreiber des Dienstes.',
        wayOut: 'Zum Workspace',
      },
      FILES_NEARLY_FULL: {
        title: 'Der Platz für Dateien ist fast voll',
        advice: 'Ist er voll, kann keine Datei mehr gesendet oder empfangen werden.',
        wayOut: 'Zum Workspace',
      },
    },
  },
};
