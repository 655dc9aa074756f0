import { Locale } from '../../logins/people/person.dto';
import { Mail, plainText } from '../../mails/mailer';
import { NoticeContent } from './agent-notices.repository';
import { PushNotice } from '../push/push-message';

/** Largest number of conversations that a mail names. */
const MAX_NAMED = 10;

/** Matches characters that reverse or break a text, because they could make a notice misleading. */
const CONTROLS = /[\p{Cc}\u200E\u200F\u061C\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

type MailText = Pick<Mail, 'subject' | 'text'>;

interface Words {
  customer: string;
  waits: (name: string) => string;
  assigned: (name: string) => string;
  several: (count: number) => string;
  line: Record<NoticeContent['matter'], (name: string) => string>;
  more: (count: number) => string;
  greeting: string;
  ending: (account: string) => string;
}

const WORDS: Record<Locale, Words> = {
  en: {
    customer: 'A customer',
    waits: (name) => `${name} waits for an answer`,
    assigned: (name) => `The conversation with ${name} is yours now`,
    several: (count) => `${count} conversations wait for you`,
    line: {
      MINE: (name) => `${name} waits for your answer:`,
      NOBODYS: (name) => `${name} waits for an answer, and nobody is assigned:`,
      ASSIGNMENT: (name) => `The conversation with ${name} was assigned to you:`,
    },
    more: (count) => `And ${count} more in the inbox.`,
    greeting: 'Hello,',
    ending: (account) => `Nobody reads answers to this mail. Answer in the inbox.
You choose when you get such mails, or none, in your account: ${account}
`,
  },
  de: {
    customer: 'Ein Kunde',
    waits: (name) => `${name} wartet auf eine Antwort`,
    assigned: (name) => `Die Unterhaltung mit ${name} gehört jetzt Ihnen`,
    several: (count) => `${count} Unterhaltungen warten auf Sie`,
    line: {
      MINE: (name) => `${name} wartet auf Ihre Antwort:`,
      NOBODYS: (name) => `${name} wartet auf eine Antwort, und niemand ist zugewiesen:`,
      ASSIGNMENT: (name) => `Die Unterhaltung mit ${name} wurde Ihnen zugewiesen:`,
    },
    more: (count) => `Und ${count} weitere im Posteingang.`,
    greeting: 'Guten Tag,',
    ending: (account) => `Antworten auf diese Mail liest niemand. Antworten Sie im Posteingang.
Wann Sie solche Mails bekommen, oder keine, wählen Sie in Ihrem Konto: ${account}
`,
  },
};

/** Returns the title of notices. */
function titleOf(locale: Locale | null, contents: NoticeContent[]): string {
  const words = WORDS[locale ?? 'en'];
  const [first, ...others] = contents;
  if (!first || others.length > 0) return words.several(contents.length);
  const title = first.matter === 'ASSIGNMENT' ? words.assigned : words.waits;
  return title(nameOf(first, words));
}

/** Returns the path of the dashboard's page with a conversation. It holds no token: a login opens it. */
function pathOf({ workspaceSlug, conversationId }: NoticeContent): string {
  return `/w/${workspaceSlug}/inbox/${conversationId}`;
}

function inboxOf({ workspaceSlug }: NoticeContent): string {
  return `/w/${workspaceSlug}/inbox`;
}

/** Writes a push message. That of several conversations opens the inbox. */
export function agentPush(locale: Locale | null, contents: NoticeContent[]): Omit<PushNotice, 'id'> {
  const [first] = contents;
  const isOne = contents.length === 1;
  return {
    title: titleOf(locale, contents),
    body: isOne ? previewOf(first!) : first!.workspaceName,
    path: isOne ? pathOf(first!) : inboxOf(first!),
  };
}

/**
 * Writes a mail that names conversations, each with a link. Names and texts of customers are in one line of
 * at most 80 characters, without the beginning of a link, so that no link of a customer looks like ours.
 */
export function agentMail(locale: Locale | null, contents: NoticeContent[], appUrl: string): MailText {
  const words = WORDS[locale ?? 'en'];
  const [first] = contents;
  const blocks = contents.slice(0, MAX_NAMED).map((content) => {
    const quote = previewOf(content);
    const lines = [words.line[content.matter](nameOf(content, words)), ...(quote ? [`> ${quote}`] : [])];
    return [...lines, appUrl + pathOf(content)].join('\n');
  });
  if (contents.length > MAX_NAMED)
    blocks.push(`${words.more(contents.length - MAX_NAMED)}\n${appUrl}${inboxOf(first!)}`);
  return {
    subject: titleOf(locale, contents),
    text: [words.greeting, ...blocks, words.ending(`${appUrl}/account`)].join('\n\n'),
  };
}

function nameOf({ contactName }: NoticeContent, { customer }: Words): string {
  return quietText(contactName ?? '') || customer;
}

/** Returns the beginning of the customer's text, in one line without links. */
function previewOf({ preview }: NoticeContent): string {
  return preview === null ? '' : quietText(preview);
}

function quietText(text: string): string {
  return plainText(text.replace(CONTROLS, ' '));
}
