import { Mail, plainText } from '../../mails/mailer';
import { Locale } from '../people/person.dto';

type MailText = Omit<Mail, 'to'>;

const TEXTS = {
  en: {
    invitation: (workspace: string, link: string) => ({
      subject: `Your invitation to ${workspace}`,
      text: `Hello,

you are invited to answer customers of "${workspace}". Accept the invitation here:

${link}

The link works once, for 24 hours. If you don't expect it, ignore this mail.
`,
    }),
    reset: (link: string) => ({
      subject: 'Your new password',
      text: `Hello,

somebody has asked for a new password for your login. Set one here:

${link}

The link works once, for 24 hours. If it was not you, ignore this mail: your password stays as it is.
`,
    }),
  },
  de: {
    invitation: (workspace: string, link: string) => ({
      subject: `Ihre Einladung zu ${workspace}`,
      text: `Guten Tag,

Sie sind eingeladen, Kunden von „${workspace}“ zu antworten. Nehmen Sie die Einladung hier an:

${link}

Der Link gilt einmal und 24 Stunden lang. Falls Sie ihn nicht erwarten, ignorieren Sie diese Mail.
`,
    }),
    reset: (link: string) => ({
      subject: 'Ihr neues Passwort',
      text: `Guten Tag,

jemand hat für Ihren Zugang ein neues Passwort angefordert. Legen Sie es hier fest:

${link}

Der Link gilt einmal und 24 Stunden lang. Falls Sie das nicht waren, ignorieren Sie diese Mail: Ihr Passwort bleibt, wie es ist.
`,
    }),
  },
} satisfies Record<Locale, object>;

export function invitationMail(locale: Locale | null | undefined, workspace: string, link: string): MailText {
  return TEXTS[locale ?? 'en'].invitation(plainText(workspace), link);
}

export function resetMail(locale: Locale | null | undefined, link: string): MailText {
  return TEXTS[locale ?? 'en'].reset(link);
}
