import { Origin } from '../../access/principal';
import { Mail, plainText } from '../../mails/mailer';
import { Locale } from './person.dto';

/** Change of a login that is mailed to the login's person. */
export type Notice =
  | 'password_changed'
  | 'second_factor_turned_on'
  | 'second_factor_turned_off'
  | 'recovery_code_used'
  | 'new_browser';

interface NoticeOccasion {
  at: Date;
  /** Origin of the person's request; null if an operator made the change. */
  by: Pick<Origin, 'address' | 'userAgent'> | null;
  appUrl: string;
}

const SUBJECTS: Record<Locale, Record<Notice, string>> = {
  en: {
    password_changed: 'Your password was changed',
    second_factor_turned_on: 'Your second factor was turned on',
    second_factor_turned_off: 'Your second factor was turned off',
    recovery_code_used: 'A recovery code was used',
    new_browser: 'A login in a new browser',
  },
  de: {
    password_changed: 'Ihr Passwort wurde geändert',
    second_factor_turned_on: 'Ihr zweiter Faktor wurde eingeschaltet',
    second_factor_turned_off: 'Ihr zweiter Faktor wurde ausgeschaltet',
    recovery_code_used: 'Ein Wiederherstellungscode wurde benutzt',
    new_browser: 'Eine Anmeldung in einem neuen Browser',
  },
};

const BODIES: Record<Locale, (what: string, from: string, at: string, appUrl: string) => string> = {
  en: (what, from, at, appUrl) => `Hello,

this happened to your login:

${what}
${at}
${from}

If it was you, ignore this mail. If it was not, set a new password at ${appUrl}/login, end all other sessions in
your account, and tell who manages your workspace.
`,
  de: (what, from, at, appUrl) => `Guten Tag,

das ist mit Ihrem Zugang geschehen:

${what}
${at}
${from}

Wenn Sie das waren, ignorieren Sie diese Mail. Wenn nicht, setzen Sie unter ${appUrl}/login ein neues Passwort,
beenden Sie in Ihrem Konto alle anderen Sitzungen, und sagen Sie es denen, die Ihren Workspace verwalten.
`,
};
const UNKNOWN: Record<Locale, string> = { en: 'from an unknown place', de: 'von unbekannter Stelle' };
const OPERATOR: Record<Locale, string> = {
  en: 'by an operator of the service',
  de: 'durch die Betreiber des Dienstes',
};

export function noticeMail(
  locale: Locale | null,
  notice: Notice,
  { at, by, appUrl }: NoticeOccasion,
): Omit<Mail, 'to'> {
  const language = locale ?? 'en';
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' });
  const place = by && [by.address, by.userAgent && plainText(by.userAgent)].filter(Boolean).join(', ');
  const from = by ? place || UNKNOWN[language] : OPERATOR[language];
  const subject = SUBJECTS[language][notice];
  return { subject, text: BODIES[language](`${subject}.`, from, format.format(at), appUrl) };
}
