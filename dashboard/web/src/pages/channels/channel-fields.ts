import type { Channel } from '../../api/types';

export interface ChannelField {
  name: string;
  isOptional?: boolean;
  /** True for a value that is hidden while it is typed. */
  isSecret?: boolean;
}

export const CHANNELS: Channel[] = ['WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM'];

export const CHANNEL_LABELS: Record<Channel, string> = {
  WIDGET: 'Widget',
  WHATSAPP: 'WhatsApp',
  TELEGRAM: 'Telegram',
  MESSENGER: 'Messenger',
  INSTAGRAM: 'Instagram',
};

const ACCESS_TOKEN: ChannelField = { name: 'accessToken', isSecret: true };
const APP_SECRET: ChannelField = { name: 'appSecret', isSecret: true };
const VERIFY_TOKEN: ChannelField = { name: 'verifyToken', isOptional: true };

/**
 * Fields for the credentials of an account at a provider. The widget has a form of its own, for a list of
 * origins.
 */
export const CHANNEL_FIELDS: Record<Exclude<Channel, 'WIDGET'>, ChannelField[]> = {
  WHATSAPP: [{ name: 'phoneNumberId' }, ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN],
  TELEGRAM: [{ name: 'botToken', isSecret: true }],
  MESSENGER: [{ name: 'pageId' }, ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN],
  INSTAGRAM: [
    { name: 'accountId' },
    ACCESS_TOKEN,
    APP_SECRET,
    { name: 'facebookAppSecret', isOptional: true, isSecret: true },
    VERIFY_TOKEN,
  ],
};
