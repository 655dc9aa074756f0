import type { Locale, Scope } from '../../api/types';

/** Sentences that say what each scope allows, in each language of the pages. */
export const SCOPE_TEXTS: Record<Scope, Record<Locale, string>> = {
  'conversations:read': {
    en: 'List and read conversations and their messages',
    de: 'Unterhaltungen und ihre Nachrichten auflisten und lesen',
  },
  'conversations:write': {
    en: 'Close, reopen or reassign conversations',
    de: 'Unterhaltungen schließen, öffnen oder zuweisen',
  },
  'messages:read': { en: 'Read a conversation’s messages', de: 'Die Nachrichten einer Unterhaltung lesen' },
  'messages:write': { en: 'Send a message as an agent', de: 'Eine Nachricht als Agent senden' },
  'contacts:read': { en: 'List and search contacts', de: 'Kontakte auflisten und suchen' },
};

export const SCOPES = Object.keys(SCOPE_TEXTS) as Scope[];

export const PRESETS = {
  read: SCOPES.filter((scope) => scope.endsWith(':read')),
  answer: ['conversations:read', 'messages:read', 'messages:write'],
  all: SCOPES,
} as const satisfies Record<string, readonly Scope[]>;
