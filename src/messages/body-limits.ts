import { AppError } from '../common/app-error';
import { Channel, CHANNELS, describeChannel } from '../common/channel-descriptors';
import { countCharacters } from '../common/validators';

const MEASURES = { characters: countCharacters, 'UTF-8 bytes': (body: string) => Buffer.byteLength(body) };

/**
 * Refuses a body that is longer than the channel's limit.
 * @throws AppError INVALID_BODY
 */
export function requireWithinLimit(channel: Channel, body: string): void {
  const limit = describeChannel(channel).bodyLimit;
  if (!limit || MEASURES[limit.unit](body) <= limit.max) return;
  throw AppError.invalidBody('body', 'body_too_long', { ...limit, channel });
}

/** Text with all limits, the smallest first: `Instagram 1000 UTF-8 bytes, Messenger 2000 characters`. */
export const BODY_LIMITS = CHANNELS.map(describeChannel)
  .flatMap(({ label, bodyLimit }) => (bodyLimit ? [{ label, ...bodyLimit }] : []))
  .sort((a, b) => a.max - b.max)
  .map(({ label, max, unit }) => `${label} ${max} ${unit}`)
  .join(', ');
