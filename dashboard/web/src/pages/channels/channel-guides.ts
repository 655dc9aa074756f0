import type { Channel } from '../../api/types';
import { type ChannelGuide, NEW_CREDENTIALS } from './channel-guide';
import { INSTAGRAM_GUIDE, MESSENGER_GUIDE, WHATSAPP_GUIDE } from './meta-guides';

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
  WHATSAPP: WHATSAPP_GUIDE,
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
    ...NEW_CREDENTIALS,
  },
  MESSENGER: MESSENGER_GUIDE,
  INSTAGRAM: INSTAGRAM_GUIDE,
};

export const CHANNELS = Object.keys(CHANNEL_GUIDES) as Channel[];
