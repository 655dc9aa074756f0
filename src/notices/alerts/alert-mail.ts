import { alertCatalog, AlertSubject } from '../../alerts/alert-kinds';
import { AlertRow } from '../../alerts/alert.dto';
import { Locale } from '../../logins/people/person.dto';
import { Mail, plainText } from '../../mails/mailer';
import { MailLinks } from './alert-mail-links';
import { SubjectNames } from './alert-subjects.repository';
import { ALERT_WORDS, AlertWords } from './alert-mail-texts';
import { MAX_COLLECTED } from './alert-mailboxes.repository';

type MailText = Pick<Mail, 'subject' | 'text'>;

/** Pages of the dashboard that mend the subject of an alert, by its id. */
const PAGES: Record<AlertSubject | 'conversation', (id: string) => string> = {
  webhook_endpoint: (id) => `settings/webhooks/${id}`,
  channel_connection: () => 'settings/channels',
  conversation: (id) => `inbox/${id}?view=lost`,
  api_key: () => 'settings/api-keys',
  workspace: () => 'settings/workspace',
};

/**
 * Writes a mail about alerts. It has no text that a customer has written.
 * @param names names of the alerts' subjects, for those that have one
 */
export function alertMail(
  locale: Locale | null,
  workspaceName: string,
  alerts: AlertRow[],
  names: SubjectNames,
  links: MailLinks,
): MailText {
  const words = ALERT_WORDS[locale ?? 'en'];
  const workspace = plainText(workspaceName);
  const open = alerts.filter(({ resolvedAt }) => resolvedAt === null);
  const ended = alerts.filter(({ resolvedAt }) => resolvedAt !== null);
  const parts = [
    words.hello(workspace),
    ...listed(words.open, open, (alert) => openText(alert, words, { names, links })),
    ...listed(words.ended, ended, (alert) => endedText(alert, words, names)),
    ...(alerts.length >= MAX_COLLECTED ? [`${words.cut} ${links.workspace}`] : []),
    words.end(links),
  ];
  return { subject: `${workspace}: ${subjectOf(alerts, words)}`, text: parts.join('\n\n') };
}

function subjectOf([first, ...others]: AlertRow[], words: AlertWords): string {
  if (others.length > 0) return words.count(others.length + 1);
  const { title } = words.kinds[first!.kind];
  return first!.resolvedAt ? words.over(title) : title;
}

function listed(heading: string, alerts: AlertRow[], write: (alert: AlertRow) => string): string[] {
  return alerts.length > 0 ? [heading, ...alerts.map(write)] : [];
}

function openText(
  alert: AlertRow,
  words: AlertWords,
  { names, links }: { names: SubjectNames; links: MailLinks },
): string {
  const { kind, subjectId, openedAt } = alert;
  const page = `${links.workspace}/${PAGES[alertCatalog[kind].subject](subjectId)}`;
  return `- ${titleOf(alert, words, names)} (${timeOf(openedAt)})\n  ${words.kinds[kind].advice}\n  ${page}`;
}

function endedText(alert: AlertRow, words: AlertWords, names: SubjectNames): string {
  const { openedAt, resolvedAt } = alert;
  return `- ${titleOf(alert, words, names)} (${timeOf(openedAt)} – ${timeOf(resolvedAt!)})`;
}

/** Returns the title of an alert's kind with the name of its subject, if that has one. */
function titleOf({ kind, subjectId }: AlertRow, { kinds }: AlertWords, names: SubjectNames): string {
  const name = names.get(subjectId);
  return name === undefined ? kinds[kind].title : `${kinds[kind].title}: ${plainText(name)}`;
}

/** Returns a time as `2026-11-21 09:41 UTC`. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
