import { Channel, CHANNELS, describeChannel } from '../common/channel-descriptors';
import { countCharacters } from '../common/validators';

const MEASURES = { characters: countCharacters, 'UTF-8 bytes': (body: string) => Buffer.byteLength(body) };

/** Returns why a channel can't take a body, or null if it can. A message is never split or cut. */
export function bodyLimitFault(channel: Channel, body: string): string | null {
  const limit = describeChannel(channel).bodyLimit;
  if (!limit || MEASURES[limit.unit](body) <= limit.max) return null;
  return `is longer than the ${limit.max} ${limit.unit} that ${channel} takes`;
}

/**
 * Limits of the channels in words, the smallest first: `Instagram 1000 UTF-8 bytes, Messenger 2000
 * characters`.
 */
export const BODY_LIMITS = CHANNELS.map(describeChannel)
  .flatMap(({ label, bodyLimit }) => (bodyLimit ? [{ label, ...bodyLimit }] : []))
  .sort((a, b) => a.max - b.max)
  .map(({ label, max, unit }) => `${label} ${max} ${unit}`)
  .join(', ');
