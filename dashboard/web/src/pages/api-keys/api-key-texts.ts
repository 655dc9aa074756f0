import type { Locale } from '../../api/types';
import { useLocale } from '../../i18n/locale';

const en = {
  title: 'API keys',
  about: 'A key lets a program use the REST API as this workspace.',
  create: 'Create a key',
  none: 'There is no API key yet',
  noneAdvice: 'Create one to call the REST API. You get a line to try it with at once.',
  name: 'Name',
  nameAdvice: 'What uses the key, such as “CRM sync”.',
  scopes: 'Scopes',
  scopeNeeded: 'Choose one scope at least.',
  preset: 'Preset',
  presets: {
    read: 'Read conversations and contacts',
    answer: 'Read and answer messages',
    all: 'Read, answer and change conversations',
    custom: 'My own choice',
  },
  everything: 'Everything',
  onlyFrom: (networks: string) => `only from ${networks}`,
  created: 'Created',
  byOperator: 'by an operator',
  lastUsed: 'Last used',
  expires: 'Expires',
  noExpiry: 'as late as allowed',
  expired: 'expired',
  networks: 'Networks',
  networksAdvice: 'From where alone the key may be used. Leave it empty for everywhere.',
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeAdvice: 'Requests with this key are refused from now on. This can’t be undone.',
  revokeWhy: 'Why do you revoke it?',
  leaked: 'It leaked, or nobody needs it any more',
  leakedAdvice: 'Its endpoints are deactivated, and what they are still owed is cancelled.',
  replaced: 'Another key replaces it',
  replacedAdvice: 'Its endpoints go on, and are that key’s from now on.',
  replacedBy: 'New key',
  noOtherKey: 'There is no other key that works: create it first.',
  endpointsOf: 'The key made these webhook endpoints, or set their address last:',
  noEndpoints: 'The key made no webhook endpoint.',
  outcomes: {
    DEACTIVATED: 'deactivated',
    INACTIVE: 'was inactive already',
    HANDED_OVER: 'goes on with the new key',
    UNCHANGED: 'goes on',
  },
  rollSecret: 'The key knew its secret: roll it.',
  revoked: 'revoked',
  revokedDone: 'The key is revoked.',
  newKey: (name: string) => `Key “${name}”`,
  shownOnceAdvice: 'Only a hash of the key is kept. Copy it to where it is used.',
  key: 'Key',
  tryIt: 'Try it in a terminal',
};

type ApiKeyTexts = typeof en;

const de: ApiKeyTexts = {
  title: 'API-Schlüssel',
  about: 'Mit einem Schlüssel nutzt ein Programm die REST-API für diesen Workspace.',
  create: 'Schlüssel erstellen',
  none: 'Es gibt noch keinen API-Schlüssel',
  noneAdvice:
    'Erstellen Sie einen, um die REST-API aufzurufen. Eine Zeile zum Ausprobieren bekommen Sie sofort.',
  name: 'Name',
  nameAdvice: 'Was den Schlüssel nutzt, etwa „CRM-Abgleich“.',
  scopes: 'Rechte',
  scopeNeeded: 'Wählen Sie mindestens ein Recht.',
  preset: 'Vorauswahl',
  presets: {
    read: 'Unterhaltungen und Kontakte lesen',
    answer: 'Nachrichten lesen und beantworten',
    all: 'Unterhaltungen lesen, beantworten und ändern',
    custom: 'Eigene Auswahl',
  },
  everything: 'Alles',
  onlyFrom: (networks: string) => `nur von ${networks}`,
  created: 'Erstellt',
  byOperator: 'von einem Betreiber',
  lastUsed: 'Zuletzt benutzt',
  expires: 'Läuft ab',
  noExpiry: 'so spät wie erlaubt',
  expired: 'abgelaufen',
  networks: 'Netze',
  networksAdvice: 'Nur von dort gilt der Schlüssel. Leer lassen für überall.',
  revoke: 'Widerrufen',
  revokeNamed: (name: string) => `${name} widerrufen`,
  revokeAdvice:
    'Anfragen mit diesem Schlüssel werden ab sofort abgelehnt. Das lässt sich nicht rückgängig machen.',
  revokeWhy: 'Warum widerrufen Sie ihn?',
  leaked: 'Er ist bekannt geworden, oder niemand braucht ihn mehr',
  leakedAdvice: 'Seine Endpunkte werden deaktiviert, und was ihnen noch zusteht, entfällt.',
  replaced: 'Ein anderer Schlüssel ersetzt ihn',
  replacedAdvice: 'Seine Endpunkte laufen weiter und gehören ab jetzt zu jenem Schlüssel.',
  replacedBy: 'Neuer Schlüssel',
  noOtherKey: 'Es gibt keinen anderen gültigen Schlüssel: Legen Sie ihn zuerst an.',
  endpointsOf: 'Diese Webhook-Endpunkte hat der Schlüssel angelegt, oder ihre Adresse zuletzt gesetzt:',
  noEndpoints: 'Der Schlüssel hat keinen Webhook-Endpunkt angelegt.',
  outcomes: {
    DEACTIVATED: 'deaktiviert',
    INACTIVE: 'war schon inaktiv',
    HANDED_OVER: 'läuft mit dem neuen Schlüssel weiter',
    UNCHANGED: 'läuft weiter',
  },
  rollSecret: 'Der Schlüssel kannte sein Secret: Erneuern Sie es.',
  revoked: 'widerrufen',
  revokedDone: 'Der Schlüssel ist widerrufen.',
  newKey: (name: string) => `Schlüssel „${name}“`,
  shownOnceAdvice:
    'Nur ein Hash des Schlüssels bleibt hier. Kopieren Sie ihn dorthin, wo er gebraucht wird, etwa in einen Secret Store.',
  key: 'Schlüssel',
  tryIt: 'In einem Terminal ausprobieren',
};

const TEXTS: Record<Locale, ApiKeyTexts> = { en, de };

/** Returns the texts about API keys. They are loaded with the page that shows them. */
export function useApiKeyTexts(): ApiKeyTexts {
  return TEXTS[useLocale()];
}
