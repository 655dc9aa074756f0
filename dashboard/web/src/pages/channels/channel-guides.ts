import type { Channel, Locale } from '../../api/types';

/** A text in each language of the pages. */
type Localized<Text> = Record<Locale, Text>;

export interface ChannelField {
  name: string;
  label: Localized<string>;
  /** The name that the provider's pages have for it. */
  term: string;
  about: Localized<string>;
  isOptional?: boolean;
  /** True for a value that is hidden while it is typed. */
  isSecret?: boolean;
}

/** Texts and fields of a channel on its pages. */
interface ChannelGuide {
  /** Description of the account that customers write to. */
  about: Localized<string>;
  /** Fields for the credentials of an account. The widget has none: its form is a list of origins. */
  fields: ChannelField[];
  /** Steps that a person takes to connect an account, in order. */
  steps: Localized<string[]>;
  /** Steps that are left once the account is connected. */
  after: Localized<string[]>;
  /** True if a person enters the address of our hook at the provider, because no call of its API does. */
  isHookEntered: boolean;
  /** Values that connecting reveals, by their names. */
  revealed: Record<string, { label: Localized<string>; about: Localized<string> }>;
  /** Label of the button that changes a connected account. */
  rotate: Localized<string>;
  /** Announcement of a changed account. */
  rotated: Localized<string>;
}

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

/** Explanations of the values that Meta's channels reveal. */
const META_REVEALED: ChannelGuide['revealed'] = {
  verifyToken: {
    label: VERIFY_TOKEN_LABEL,
    about: {
      en: 'Enter it at the provider, beside the callback address.',
      de: 'Tragen Sie es beim Anbieter neben der Callback-Adresse ein.',
    },
  },
};
const NEW_CREDENTIALS: Localized<string> = { en: 'New credentials', de: 'Neue Zugangsdaten' };
const NEW_CREDENTIALS_STORED: Localized<string> = {
  en: 'The new credentials are stored.',
  de: 'Die neuen Zugangsdaten sind gespeichert.',
};

export const CHANNEL_GUIDES: Record<Channel, ChannelGuide> = {
  WIDGET: {
    about: { en: 'A chat in your own pages.', de: 'Ein Chat in Ihren eigenen Seiten.' },
    fields: [],
    steps: {
      en: [
        'Enter the origins of your pages.',
        'Put the snippet that you get into your pages.',
        'If your customers log in, sign their id on your server with the identity secret.',
      ],
      de: [
        'Geben Sie die Origins Ihrer Seiten ein.',
        'Fügen Sie das Snippet, das Sie bekommen, in Ihre Seiten ein.',
        'Melden sich Ihre Kunden an, signieren Sie ihre ID auf Ihrem Server mit dem Identity-Secret.',
      ],
    },
    after: {
      en: [
        'Put the snippet into your pages.',
        'Keep the identity secret on your server: it signs your logged-in visitors.',
      ],
      de: [
        'Fügen Sie das Snippet in Ihre Seiten ein.',
        'Bewahren Sie das Identity-Secret auf Ihrem Server auf: Es signiert Ihre angemeldeten Besucher.',
      ],
    },
    isHookEntered: false,
    revealed: {
      identitySecret: {
        label: { en: 'Identity secret', de: 'Identity-Secret' },
        about: {
          en: 'Your server signs logged-in visitors with it. It must not get into a page.',
          de: 'Ihr Server signiert damit angemeldete Besucher. Es darf in keine Seite gelangen.',
        },
      },
    },
    rotate: { en: 'Change the origins', de: 'Origins ändern' },
    rotated: { en: 'The origins are changed.', de: 'Die Origins sind geändert.' },
  },
  WHATSAPP: {
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
    isHookEntered: true,
    revealed: META_REVEALED,
    rotate: NEW_CREDENTIALS,
    rotated: NEW_CREDENTIALS_STORED,
  },
  TELEGRAM: {
    about: { en: 'A bot of yours in Telegram.', de: 'Ein Bot von Ihnen in Telegram.' },
    fields: [
      {
        name: 'botToken',
        label: { en: 'Token of the bot', de: 'Token des Bots' },
        term: 'HTTP API token',
        about: { en: 'Such as 123456:ABC-DEF…', de: 'Etwa 123456:ABC-DEF…' },
        isSecret: true,
      },
    ],
    steps: {
      en: [
        'Talk to @BotFather in Telegram and send /newbot.',
        'Copy the token that it answers with. The rest is done for you.',
      ],
      de: [
        'Schreiben Sie @BotFather in Telegram, und zwar /newbot.',
        'Kopieren Sie das Token aus der Antwort. Der Rest geschieht von selbst.',
      ],
    },
    after: {
      en: ['Nothing else is to do: write to your bot.'],
      de: ['Mehr ist nicht zu tun: Schreiben Sie Ihrem Bot.'],
    },
    isHookEntered: false,
    revealed: {},
    rotate: NEW_CREDENTIALS,
    rotated: NEW_CREDENTIALS_STORED,
  },
  MESSENGER: {
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
    isHookEntered: true,
    revealed: META_REVEALED,
    rotate: NEW_CREDENTIALS,
    rotated: NEW_CREDENTIALS_STORED,
  },
  INSTAGRAM: {
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
    isHookEntered: true,
    revealed: META_REVEALED,
    rotate: NEW_CREDENTIALS,
    rotated: NEW_CREDENTIALS_STORED,
  },
};

/** Channels, in the order in which the page shows them. */
export const CHANNELS = Object.keys(CHANNEL_GUIDES) as Channel[];
