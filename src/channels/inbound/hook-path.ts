import { CHANNELS, describeChannel, slugOf } from '../../common/channel';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/** Case-insensitive, as Express matches `/channels/telegram/{hookKey}`. */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');

/** Larger than any provider's bundle of events. */
export const HOOK_BODY_LIMIT = 3 * 1024 * 1024;
