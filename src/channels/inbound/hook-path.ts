import { CHANNELS, describeChannel, slugOf } from '../../common/channel';

export const HOOKED_CHANNELS = CHANNELS.filter((channel) => describeChannel(channel).hook);

/** The hooks' paths, as Express matches them: `/channels/telegram/{hookKey}`, in any case. */
export const HOOK_PATH = new RegExp(`^/channels/(${HOOKED_CHANNELS.map(slugOf).join('|')})(?=/)`, 'i');

/** Providers bundle events: more than any of them sends at once. */
export const HOOK_BODY_LIMIT = 3 * 1024 * 1024;
