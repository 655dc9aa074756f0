import { Mail, plainText } from '../../mails/mailer';

export const ANSWER_LOCALES = ['en', 'de'] as const;
export type AnswerLocale = (typeof ANSWER_LOCALES)[number];

/** Largest number of answers that a mail quotes, and of characters of each. */
export const MAX_QUOTES = 5;
const MAX_QUOTED = 1_000;

type MailText = Pick<Mail, 'subject' | 'text'>;

const TEXTS: Record<AnswerLocale, (workspace: string, quotes: string, link: string) => MailText> = {
  en: (workspace, quotes, link) => ({
    subject: `${workspace} has answered you`,
    text: `Hello,

${workspace} has answered in the chat, and you have not seen it yet:

${quotes}

Read it and answer here:

${link}

The link opens this conversation for seven days. Who has it can read and write there, so do not pass it on.
Nobody reads answers to this mail. If you do not expect it, ignore it.
`,
  }),
  de: (workspace, quotes, link) => ({
    subject: `${workspace} hat Ihnen geantwortet`,
    text: `Guten Tag,

${workspace} hat im Chat geantwortet, und Sie haben es noch nicht gesehen:

${quotes}

Lesen und antworten Sie hier:

${link}

Der Link öffnet sieben Tage lang diese Unterhaltung. Wer ihn hat, kann dort lesen und schreiben: Geben Sie ihn nicht weiter.
Antworten auf diese Mail liest niemand. Falls Sie sie nicht erwarten, ignorieren Sie sie.
`,
  }),
};

/** Writes a mail that quotes agents' texts, and nothing that a visitor has written. */
export function answerMail(
  locale: string | null,
  workspaceName: string,
  texts: string[],
  link: string,
): MailText {
  const known = ANSWER_LOCALES.find((one) => one === locale) ?? 'en';
  return TEXTS[known](plainText(workspaceName), texts.slice(0, MAX_QUOTES).map(quote).join('\n\n'), link);
}

/** Returns a text as mails quote, cut after 1,000 characters. */
function quote(text: string): string {
  const characters = [...text];
  const cut = characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}…` : text;
  return cut
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n');
}
