import { AppError } from '../common/app-error';
import { Channel, CHANNELS, describeChannel } from '../common/channel-descriptors';
import { countCharacters } from '../common/validators';

type BodyLimit = NonNullable<ReturnType<typeof describeChannel>['bodyLimit']>;

const MEASURES = { characters: countCharacters, 'UTF-8 bytes': (body: string) => Buffer.byteLength(body) };

/** Returns the limit that a body exceeds on a channel; undefined if the channel accepts the body. */
function exceededLimit(channel: Channel, body: string): BodyLimit | undefined {
  const limit = describeChannel(channel).bodyLimit;
  return limit && MEASURES[limit.unit](body) > limit.max ? limit : undefined;
}

/** Lists the channels that accept a body of this length. */
export function channelsFor(body: string): Channel[] {
  return CHANNELS.filter((channel) => !exceededLimit(channel, body));
}

/**
 * Refuses a text that is longer than the channel's limit.
 * @throws AppError INVALID_BODY
 */
export function requireWithinLimit(channel: Channel, text: string, field = 'body'): void {
  const limit = exceededLimit(channel, text);
  if (limit) throw AppError.invalidBody(field, 'body_too_long', { ...limit, channel });
}

/** Text with all limits, the smallest first: `Instagram 1000 UTF-8 bytes, Messenger 2000 characters`. */
export const BODY_LIMITS = CHANNELS.map(describeChannel)
  .flatMap(({ label, bodyLimit }) => (bodyLimit ? [{ label, ...bodyLimit }] : []))
  .sort((a, b) => a.max - b.max)
  .map(({ label, max, unit }) => `${label} ${max} ${unit}`)
  .join(', ');
