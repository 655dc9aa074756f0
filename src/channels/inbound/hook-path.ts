import { CHANNELS, describeChannel, slugOf } from '../../common/channel-descriptors';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/** Matches the start of `/channels/telegram/{hookKey}` in any case, as Express does. */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');
