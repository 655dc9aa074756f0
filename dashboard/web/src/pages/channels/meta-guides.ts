import { type ChannelField, type ChannelGuide, type Localized, NEW_CREDENTIALS } from './channel-guide';

const VERIFY_TOKEN_LABEL: Localized<string> = { en: 'Verify token', de: 'Bestätigungstoken' };
const ACCESS_TOKEN: ChannelField = {
  name: 'accessToken',
  label: { en: 'Access token', de: 'Zugriffstoken' },
  term: 'Access token',
  about: {
    en: 'From the provider; it is stored encrypted and never shown again.',
    de: 'Vom Anbieter; es wird verschlüsselt gespeichert und nie wieder gezeigt.',
  },
  isSecret: true,
};
const APP_SECRET: ChannelField = {
  name: 'appSecret',
  label: { en: 'App secret', de: 'Secret der App' },
  term: 'App secret',
  about: { en: 'It signs the provider’s requests.', de: 'Es signiert die Anfragen des Anbieters.' },
  isSecret: true,
};
const VERIFY_TOKEN: ChannelField = {
  name: 'verifyToken',
  label: VERIFY_TOKEN_LABEL,
  term: 'Verify token',
  about: {
    en: 'Your own. Optional: otherwise one is made for you.',
    de: 'Ihr eigenes. Optional: Sonst wird eines für Sie erstellt.',
  },
  isOptional: true,
};

/**
 * Common part of the guides for Meta's channels: a person enters the hook's address and the verify token at
 * Meta.
 */
const ENTERED_AT_META = {
  isHookEntered: true,
  revealed: {
    verifyToken: {
      label: VERIFY_TOKEN_LABEL,
      about: {
        en: 'Enter it at the provider, beside the callback address.',
        de: 'Tragen Sie es beim Anbieter neben der Callback-Adresse ein.',
      },
    },
  },
  ...NEW_CREDENTIALS,
};

export const WHATSAPP_GUIDE: ChannelGuide = {
  about: {
    en: 'The number of your WhatsApp Business account.',
    de: 'Die Nummer Ihres WhatsApp-Business-Kontos.',
  },
  fields: [
    {
      name: 'phoneNumberId',
      label: { en: 'Id of the phone number', de: 'ID der Telefonnummer' },
      term: 'Phone number ID',
      about: {
        en: 'Not the number itself.',
        de: 'Nicht die Nummer selbst.',
      },
    },
    ACCESS_TOKEN,
    APP_SECRET,
    VERIFY_TOKEN,
  ],
  steps: {
    en: [
      'In your Meta app, open WhatsApp → API Setup and copy the phone number’s id.',
      'Make a system user with a token that does not expire, with whatsapp_business_messaging and whatsapp_business_management.',
      'Copy the app secret from App settings → Basic.',
      'After connecting, enter the callback address and the verify token at Meta.',
    ],
    de: [
      'Öffnen Sie in Ihrer Meta-App WhatsApp → API Setup und kopieren Sie die ID der Telefonnummer.',
      'Erstellen Sie für einen Systemnutzer ein Token ohne Ablauf, mit whatsapp_business_messaging und whatsapp_business_management.',
      'Kopieren Sie das App-Secret aus App settings → Basic.',
      'Tragen Sie nach dem Verbinden die Callback-Adresse und das Verify-Token bei Meta ein.',
    ],
  },
  after: {
    en: [
      'At Meta, open WhatsApp → Configuration and enter the callback address and the verify token.',
      'Subscribe to the field “messages”.',
      'Subscribe the app to your WhatsApp Business Account, or Meta sends nothing for real numbers.',
    ],
    de: [
      'Öffnen Sie bei Meta WhatsApp → Configuration und tragen Sie die Callback-Adresse und das Verify-Token ein.',
      'Abonnieren Sie das Feld „messages“.',
      'Abonnieren Sie Ihr WhatsApp Business Account mit der App, sonst sendet Meta für echte Nummern nichts.',
    ],
  },
  ...ENTERED_AT_META,
};

export const MESSENGER_GUIDE: ChannelGuide = {
  about: { en: 'The messages to your Facebook page.', de: 'Die Nachrichten an Ihre Facebook-Seite.' },
  fields: [
    {
      name: 'pageId',
      label: { en: 'Id of your Facebook page', de: 'ID Ihrer Facebook-Seite' },
      term: 'Page ID',
      about: { en: 'It stands in the page’s settings.', de: 'Sie steht in den Einstellungen der Seite.' },
    },
    ACCESS_TOKEN,
    APP_SECRET,
    VERIFY_TOKEN,
  ],
  steps: {
    en: [
      'In your Meta app, open Messenger → Settings and make a token of your page, with pages_messaging and pages_manage_metadata.',
      'Copy the app secret from App settings → Basic.',
      'After connecting, enter the callback address and the verify token at Meta.',
    ],
    de: [
      'Öffnen Sie in Ihrer Meta-App Messenger → Settings und erstellen Sie ein Token Ihrer Seite, mit pages_messaging und pages_manage_metadata.',
      'Kopieren Sie das App-Secret aus App settings → Basic.',
      'Tragen Sie nach dem Verbinden die Callback-Adresse und das Verify-Token bei Meta ein.',
    ],
  },
  after: {
    en: [
      'At Meta, open Messenger → Settings → Webhooks and enter the callback address and the verify token.',
      'Subscribe to messages, message_edits, message_reactions, messaging_postbacks, message_deliveries, message_reads and message_echoes.',
    ],
    de: [
      'Öffnen Sie bei Meta Messenger → Settings → Webhooks und tragen Sie die Callback-Adresse und das Verify-Token ein.',
      'Abonnieren Sie messages, message_edits, message_reactions, messaging_postbacks, message_deliveries, message_reads und message_echoes.',
    ],
  },
  ...ENTERED_AT_META,
};

export const INSTAGRAM_GUIDE: ChannelGuide = {
  about: {
    en: 'The direct messages to your professional account.',
    de: 'Die Direktnachrichten an Ihr professionelles Konto.',
  },
  fields: [
    {
      name: 'accountId',
      label: { en: 'Id of your account', de: 'ID Ihres Kontos' },
      term: 'Instagram account ID',
      about: { en: 'That of the professional account.', de: 'Die des professionellen Kontos.' },
    },
    ACCESS_TOKEN,
    APP_SECRET,
    {
      name: 'facebookAppSecret',
      label: { en: 'Secret of the Facebook app', de: 'Secret der Facebook-App' },
      term: 'App secret',
      about: {
        en: 'Only if a Facebook app owns the Instagram app. Optional.',
        de: 'Nur wenn eine Facebook-App die Instagram-App besitzt. Optional.',
      },
      isOptional: true,
      isSecret: true,
    },
    VERIFY_TOKEN,
  ],
  steps: {
    en: [
      'In your Meta app, open Instagram → API setup with Instagram login, and make a long-lived token of your professional account.',
      'Copy the Instagram app’s secret.',
      'After connecting, enter the callback address and the verify token at Meta.',
    ],
    de: [
      'Öffnen Sie in Ihrer Meta-App Instagram → API setup with Instagram login und erstellen Sie ein langlebiges Token Ihres professionellen Kontos.',
      'Kopieren Sie das Secret der Instagram-App.',
      'Tragen Sie nach dem Verbinden die Callback-Adresse und das Verify-Token bei Meta ein.',
    ],
  },
  after: {
    en: [
      'At Meta, open Instagram → API setup and enter the callback address and the verify token.',
      'Subscribe to messages, message_edit, message_reactions, messaging_postbacks and messaging_seen.',
    ],
    de: [
      'Öffnen Sie bei Meta Instagram → API setup und tragen Sie die Callback-Adresse und das Verify-Token ein.',
      'Abonnieren Sie messages, message_edit, message_reactions, messaging_postbacks und messaging_seen.',
    ],
  },
  ...ENTERED_AT_META,
};
