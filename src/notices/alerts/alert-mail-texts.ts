import { AlertKind } from '../../alerts/alert-kinds';
import { Locale } from '../../logins/people/person.dto';
import { MailLinks } from './alert-mail-links';
import { MAX_COLLECTED } from './alert-mailboxes.repository';

interface KindText {
  title: string;
  advice: string;
}

/** Kinds of alerts about replies and about channels that receive nothing. */
type ReplyKind = 'CHANNEL_RECEIVES_NOTHING' | 'REPLIES_FAILING' | 'REPLY_UNKNOWN';

export interface AlertWords {
  kinds: Record<AlertKind | ReplyKind, KindText>;
  count: (alerts: number) => string;
  over: (title: string) => string;
  hello: (workspace: string) => string;
  open: string;
  ended: string;
  cut: string;
  end: (links: MailLinks) => string;
}

export const ALERT_WORDS: Record<Locale, AlertWords> = {
  en: {
    kinds: {
      ENDPOINT_FAILING: {
        title: 'A webhook endpoint fails',
        advice: 'It no longer answers with success, and a delivery was given up.',
      },
      ENDPOINT_SWITCHED_OFF: {
        title: 'A webhook endpoint was switched off',
        advice: 'It failed for days, or answered that it is gone. It gets no events until you switch it on.',
      },
      RECOVERY_FINISHED: {
        title: 'A webhook endpoint has recovered',
        advice: 'It got all events that it had missed.',
      },
      RECOVERY_STOPPED: {
        title: 'The recovery of a webhook endpoint stopped',
        advice: 'It still misses events. Start a recovery when it works.',
      },
      CHANNEL_NEEDS_CREDENTIALS: {
        title: 'A channel needs new credentials',
        advice: 'Its provider refuses the ones that are stored, so replies are not sent.',
      },
      CHANNEL_RECEIVES_NOTHING: {
        title: 'A channel receives nothing',
        advice: 'Its provider cannot deliver to this service, or delivers to nobody or elsewhere.',
      },
      REPLIES_FAILING: {
        title: 'Replies over a channel fail',
        advice: 'The last five all failed. The conversations say why.',
      },
      REPLY_UNKNOWN: {
        title: 'A reply may not have arrived',
        advice: 'Its provider has not said whether it has. Send it again, or dismiss it.',
      },
      KEY_ENDING: {
        title: 'An API key is about to end',
        advice: 'Make a new one, and give it to the program that uses the old one.',
      },
      TRIAL_ENDING: {
        title: 'The trial is about to end, or has ended',
        advice: 'After its end, agents and programs can read alone.',
      },
      FILES_NEARLY_FULL: {
        title: 'The space for files is nearly full',
        advice: 'When it is full, no file can be sent or received.',
      },
    },
    count: (alerts) => `${alerts} alerts`,
    over: (title) => `Over: ${title}`,
    hello: (workspace) => `Hello,\n\nthere is news of "${workspace}".`,
    open: 'Open:',
    ended: 'Over:',
    cut: `A mail names ${MAX_COLLECTED} alerts at most. The dashboard shows all:`,
    end: ({ account, end }) => `You get one mail in ten minutes at most; further alerts come in the next one.
Choose in your account of which alerts you get mails: ${account}
No more mails about alerts of this workspace: ${end}
Nobody reads answers to this mail.
`,
  },
  de: {
    kinds: {
      ENDPOINT_FAILING: {
        title: 'Ein Webhook-Endpunkt ist gestört',
        advice: 'Er antwortet nicht mehr mit Erfolg, und eine Zustellung wurde aufgegeben.',
      },
      ENDPOINT_SWITCHED_OFF: {
        title: 'Ein Webhook-Endpunkt wurde abgeschaltet',
        advice:
          'Er war tagelang gestört, oder er antwortete, es gebe ihn nicht mehr. Er bekommt nichts, bis Sie ihn einschalten.',
      },
      RECOVERY_FINISHED: {
        title: 'Ein Webhook-Endpunkt ist wieder vollständig',
        advice: 'Er hat alle Ereignisse bekommen, die ihm fehlten.',
      },
      RECOVERY_STOPPED: {
        title: 'Das Nachholen für einen Webhook-Endpunkt hat aufgehört',
        advice: 'Ihm fehlen noch Ereignisse. Holen Sie sie nach, sobald er wieder geht.',
      },
      CHANNEL_NEEDS_CREDENTIALS: {
        title: 'Ein Kanal braucht neue Zugangsdaten',
        advice: 'Sein Anbieter lehnt die gespeicherten ab, deshalb werden Antworten nicht gesendet.',
      },
      CHANNEL_RECEIVES_NOTHING: {
        title: 'Ein Kanal empfängt nichts',
        advice: 'Sein Anbieter erreicht diesen Dienst nicht, oder er stellt niemandem oder anderswo zu.',
      },
      REPLIES_FAILING: {
        title: 'Antworten über einen Kanal schlagen fehl',
        advice: 'Die letzten fünf sind alle fehlgeschlagen. In den Unterhaltungen steht, warum.',
      },
      REPLY_UNKNOWN: {
        title: 'Eine Antwort ist vielleicht nicht angekommen',
        advice:
          'Der Anbieter hat nicht gesagt, ob sie angekommen ist. Senden Sie sie noch einmal, oder erklären Sie sie für erledigt.',
      },
      KEY_ENDING: {
        title: 'Ein API-Schlüssel läuft bald ab',
        advice: 'Machen Sie einen neuen, und geben Sie ihn dem Programm, das den alten benutzt.',
      },
      TRIAL_ENDING: {
        title: 'Die Testphase endet bald oder ist zu Ende',
        advice: 'Danach können Agenten und Programme nur noch lesen.',
      },
      FILES_NEARLY_FULL: {
        title: 'Der Platz für Dateien ist fast voll',
        advice: 'Ist er voll, kann keine Datei mehr gesendet oder empfangen werden.',
      },
    },
    count: (alerts) => `${alerts} Warnungen`,
    over: (title) => `Vorbei: ${title}`,
    hello: (workspace) => `Guten Tag,\n\nes gibt Neues von „${workspace}“.`,
    open: 'Offen:',
    ended: 'Vorbei:',
    cut: `Eine Mail nennt höchstens ${MAX_COLLECTED} Warnungen. Das Dashboard zeigt alle:`,
    end: ({
      account,
      end,
    }) => `Sie bekommen höchstens eine Mail in zehn Minuten; weitere Warnungen stehen in der nächsten.
Wählen Sie in Ihrem Konto, zu welchen Warnungen Sie Mails bekommen: ${account}
Keine Mails mehr über Warnungen dieses Workspace: ${end}
Antworten auf diese Mail liest niemand.
`,
  },
};
