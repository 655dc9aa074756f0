import type { Channel, ContactSummary } from '../api/types';
import { CHANNEL_LABELS } from './channel-logo';
import { shortId } from './short-id';

/** Matches a character that leaves a mark on the screen: some letters and symbols do not. */
const VISIBLE = /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Reports whether something of a name is to be seen. */
export function isVisible(name: string | null): name is string {
  return name !== null && VISIBLE.test(name);
}

/** Returns a contact's name, or else its channel with the end of its id. */
export function contactName(channel: Channel, { id, name }: Pick<ContactSummary, 'id' | 'name'>): string {
  return isVisible(name) ? name.trim() : `${CHANNEL_LABELS[channel]} ${shortId(id)}`;
}
