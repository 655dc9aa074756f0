import { alertCatalog, AlertKind, AlertSubject } from '../../alerts/alert-kinds';
import { AlertRow } from '../../alerts/alert.dto';
import { Locale } from '../../logins/people/person.dto';
import { Mail, plainText } from '../../mails/mailer';
import { MailLinks } from './alert-mail-links';
import { MAX_COLLECTED } from './alert-mailboxes.repository';

type MailText = Pick<Mail, 'subject' | 'text'>;

interface KindText {
  title: string;
  advice: string;
}

interface Words {
  kinds: Record<AlertKind, KindText>;
  count: (alerts: number) => string;
  over: (title: string) => string;
  hello: (workspace: string) => string;
  open: string;
  ended: string;
  cut: string;
  end: (links: MailLinks) => string;
}

const WORDS: Record<Locale, Words> = {
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
    cut: `There is more than these ${MAX_COLLECTED}: the dashboard shows all.`,
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
    cut: `Es gibt mehr als diese ${MAX_COLLECTED}: Das Dashboard zeigt alle.`,
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

const PAGES: Record<AlertSubject, string> = {
  webhook_endpoint: 'settings/webhooks',
  channel_connection: 'settings/channels',
  api_key: 'settings/api-keys',
  workspace: 'settings/workspace',
};

/** Writes a mail about alerts. It has no text that a customer has written. */
export function alertMail(
  locale: Locale | null,
  workspaceName: string,
  alerts: AlertRow[],
  links: MailLinks,
): MailText {
  const words = WORDS[locale ?? 'en'];
  const workspace = plainText(workspaceName);
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null);
  const ended = alerts.filter(({ resolvedAt }) => resolvedAt !== null);
  const parts = [
    words.hello(workspace),
    ...listed(words.open, open, (alert) => openText(alert, words, links)),
    ...listed(words.ended, ended, (alert) => endedText(alert, words)),
    ...(alerts.length >= MAX_COLLECTED ? [`${words.cut} ${links.workspace}`] : []),
    words.end(links),
  ];
  return { subject: `${workspace}: ${subjectOf(alerts, words)}`, text: parts.join('\n\n') };
}

function subjectOf([first, ...others]: AlertRow[], words: Words): string {
  if (others.length > 0) return words.count(others.length + 1);
  const { title } = words.kinds[first!.kind];
  return first!.resolvedAt ? words.over(title) : title;
}

function listed(heading: string, alerts: AlertRow[], write: (alert: AlertRow) => string): string[] {
  return alerts.length > 0 ? [heading, ...alerts.map(write)] : [];
}

function openText({ kind, subjectId, openedAt }: AlertRow, { kinds }: Words, { workspace }: MailLinks) {
  const { subject } = alertCatalog[kind];
  const page = `${workspace}/${PAGES[subject]}${subject === 'webhook_endpoint' ? `/${subjectId}` : ''}`;
  return `- ${kinds[kind].title} (${timeOf(openedAt)})\n  ${kinds[kind].advice}\n  ${page}`;
}

function endedText({ kind, openedAt, resolvedAt }: AlertRow, { kinds }: Words): string {
  return `- ${kinds[kind].title} (${timeOf(openedAt)} – ${timeOf(resolvedAt!)})`;
}

/** Returns a time as `2026-11-21 09:41 UTC`. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
