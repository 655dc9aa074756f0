import { alertCatalog, AlertSubject } from '../../alerts/alert-kinds';
import { AlertRow } from '../../alerts/alert.dto';
import { Locale } from '../../logins/people/person.dto';
import { Mail, plainText } from '../../mails/mailer';
import { MailLinks } from './alert-mail-links';
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

/** Writes a mail about alerts. It has no text that a customer has written. */
export function alertMail(
  locale: Locale | null,
  workspaceName: string,
  alerts: AlertRow[],
  links: MailLinks,
): MailText {
  const words = ALERT_WORDS[locale ?? 'en'];
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

function subjectOf([first, ...others]: AlertRow[], words: AlertWords): string {
  if (others.length > 0) return words.count(others.length + 1);
  const { title } = words.kinds[first!.kind];
  return first!.resolvedAt ? words.over(title) : title;
}

function listed(heading: string, alerts: AlertRow[], write: (alert: AlertRow) => string): string[] {
  return alerts.length > 0 ? [heading, ...alerts.map(write)] : [];
}

function openText({ kind, subjectId, openedAt }: AlertRow, { kinds }: AlertWords, { workspace }: MailLinks) {
  const page = `${workspace}/${PAGES[alertCatalog[kind].subject](subjectId)}`;
  return `- ${kinds[kind].title} (${timeOf(openedAt)})\n  ${kinds[kind].advice}\n  ${page}`;
}

function endedText({ kind, openedAt, resolvedAt }: AlertRow, { kinds }: AlertWords): string {
  return `- ${kinds[kind].title} (${timeOf(openedAt)} – ${timeOf(resolvedAt!)})`;
}

/** Returns a time as `2026-11-21 09:41 UTC`. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
