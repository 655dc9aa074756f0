import type { Locale, Scope } from '../../api/types';

export const SCOPE_TEXTS: Record<Scope, Record<Locale, string>> = {
  'conversations:read': {
    en: 'List and read conversations and their messages, and search messages',
    de: 'Unterhaltungen und ihre Nachrichten auflisten und lesen, und Nachrichten suchen',
  },
  'conversations:write': {
    en: 'Close, reopen or reassign conversations',
    de: 'Unterhaltungen schließen, öffnen oder zuweisen',
  },
  'conversations:create': {
    en: 'Open conversations with contacts',
    de: 'Unterhaltungen mit Kontakten beginnen',
  },
  'messages:read': {
    en: 'Read a conversation’s messages',
    de: 'Die Nachrichten einer Unterhaltung lesen',
  },
  'messages:write': { en: 'Send a message as an agent', de: 'Eine Nachricht als Agent senden' },
  'contacts:read': { en: 'List, search and read contacts', de: 'Kontakte auflisten, suchen und lesen' },
  'contacts:write': {
    en: 'Create and change contacts, and read those',
    de: 'Kontakte anlegen und ändern, und diese lesen',
  },
  'webhooks:read': {
    en: 'List and read webhook endpoints',
    de: 'Webhook-Endpunkte auflisten und lesen',
  },
  'webhooks:write': {
    en: 'Create, change, test and delete webhook endpoints, for events that the key may read',
    de: 'Webhook-Endpunkte anlegen, ändern, testen und löschen, für Ereignisse, die der Schlüssel lesen darf',
  },
  'agents:read': {
    en: 'List and read agents, with their e-mail addresses',
    de: 'Agenten und ihre E-Mail-Adressen auflisten und lesen',
  },
};

export const SCOPES = Object.keys(SCOPE_TEXTS) as Scope[];

/** Sets of scopes for common uses. No new scope must be added, because a person must choose it for a key. */
export const PRESETS = {
  read: ['conversations:read', 'messages:read', 'contacts:read'],
  answer: ['conversations:read', 'messages:read', 'messages:write'],
  all: ['conversations:read', 'conversations:write', 'messages:read', 'messages:write', 'contacts:read'],
} as const satisfies Record<string, readonly Scope[]>;
