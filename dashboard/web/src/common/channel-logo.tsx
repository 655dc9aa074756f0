import {
  IconBrandInstagram,
  IconBrandMessenger,
  IconBrandTelegram,
  IconBrandWhatsapp,
  IconMessageCircle,
} from '@tabler/icons-react';
import type { Channel } from '../api/types';
import classes from './channel-logo.module.css';

/** Names of the channels, the same in every language. */
export const CHANNEL_LABELS: Record<Channel, string> = {
  WIDGET: 'Widget',
  WHATSAPP: 'WhatsApp',
  TELEGRAM: 'Telegram',
  MESSENGER: 'Messenger',
  INSTAGRAM: 'Instagram',
};

const ICONS = {
  WIDGET: IconMessageCircle,
  WHATSAPP: IconBrandWhatsapp,
  TELEGRAM: IconBrandTelegram,
  MESSENGER: IconBrandMessenger,
  INSTAGRAM: IconBrandInstagram,
} as const;

/** Shows a channel's logo. Screen readers skip it, so the channel's name must be beside it. */
export function ChannelLogo({ channel, size = 28 }: { channel: Channel; size?: number }) {
  const Icon = ICONS[channel];
  return (
    <span className={classes.logo} data-channel={channel} style={{ width: size, height: size }} aria-hidden>
      <Icon size={Math.round(size * 0.64)} stroke={1.75} />
    </span>
  );
}
