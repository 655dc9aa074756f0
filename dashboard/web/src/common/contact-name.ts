import type { Channel, ContactSummary } from '../api/types';
import { CHANNEL_LABELS } from './channel-logo';
import { shortId } from './short-id';

/** Matches a visible character. The excluded letters and symbols, such as the Hangul filler, show nothing. */
const VISIBLE = /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u;

export function isVisible(name: string | null): name is string {
  return name !== null && VISIBLE.test(name);
}

/** Returns a contact's name, or if it has no visible character, the channel's name and the id's end. */
export function contactName(channel: Channel, { id, name }: Pick<ContactSummary, 'id' | 'name'>): string {
  return isVisible(name) ? name.trim() : `${CHANNEL_LABELS[channel]} ${shortId(id)}`;
}
