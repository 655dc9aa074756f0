import { CHANNELS, describeChannel, slugOf } from '../../common/channel-descriptors';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/**
 * Pattern of the start of a hook's path, such as `/channels/telegram/`, in any case, as Express matches it.
 */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');
