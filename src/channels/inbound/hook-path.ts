import { CHANNELS, describeChannel, slugOf } from '../../common/channel-descriptors';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/** Case-insensitive, as Express matches `/channels/telegram/{hookKey}`. */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');
