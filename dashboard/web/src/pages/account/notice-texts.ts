import type { Locale, NoticeChoices } from '../../api/types';
import { useLocale } from '../../i18n/locale';

type Matter = NoticeChoices['mailMatters'][number];
type Minutes = NoticeChoices['mailAfterMinutes'];

interface NoticeTexts {
  title: string;
  about: string;
  workspace: string;
  byMail: (email: string) => string;
  byPush: string;
  noWay: string;
  matters: Record<Matter, string>;
  after: string;
  minutes: Record<Minutes, string>;
  refused: (email: string) => string;
  sendAgain: string;
}

const TEXTS: Record<Locale, NoticeTexts> = {
  en: {
    title: 'Notices of waiting conversations',
    about: 'Of each conversation that waits while you do not use the inbox: one, until you look at it.',
    workspace: 'Workspace',
    byMail: (email) => `By mail to ${email}`,
    byPush: 'By push message',
    noWay:
      'This service sends no notices: it has no mail server. The bell in the inbox turns on sounds and notifications while the inbox is open.',
    matters: {
      MINE: 'A customer writes in a conversation of mine',
      NOBODYS: 'A customer writes, and nobody is assigned',
      ASSIGNMENT: 'A conversation is assigned to me',
    },
    after: 'When',
    minutes: {
      0: 'at once',
      5: 'after 5 minutes',
      15: 'after 15 minutes',
      60: 'after an hour',
      240: 'after four hours',
    },
    refused: (email) => `The mail server does not know ${email}. No more mails are sent.`,
    sendAgain: 'Send again',
  },
  de: {
    title: 'Benachrichtigungen über wartende Unterhaltungen',
    about:
      'Von jeder Unterhaltung, die wartet, während Sie den Posteingang nicht benutzen: eine, bis Sie sie ansehen.',
    workspace: 'Workspace',
    byMail: (email) => `Per Mail an ${email}`,
    byPush: 'Per Push-Nachricht',
    noWay:
      'Dieser Dienst verschickt keine Benachrichtigungen: Er hat keinen Mailserver. Die Glocke im Posteingang schaltet Töne und Hinweise ein, während er offen ist.',
    matters: {
      MINE: 'Ein Kunde schreibt in einer meiner Unterhaltungen',
      NOBODYS: 'Ein Kunde schreibt, und niemand ist zugewiesen',
      ASSIGNMENT: 'Eine Unterhaltung wird mir zugewiesen',
    },
    after: 'Wann',
    minutes: {
      0: 'sofort',
      5: 'nach 5 Minuten',
      15: 'nach 15 Minuten',
      60: 'nach einer Stunde',
      240: 'nach vier Stunden',
    },
    refused: (email) => `Der Mailserver kennt ${email} nicht. Es werden keine Mails mehr verschickt.`,
    sendAgain: 'Wieder verschicken',
  },
};

export function useNoticeTexts(): NoticeTexts {
  return TEXTS[useLocale()];
}
