import { Channel } from '../common/channel';
import { countCharacters } from '../common/validators';

/** What a channel's provider takes in one message, where that is less than the API's own 4096 characters. */
interface BodyLimit {
  max: number;
  unit: string;
  measure: (body: string) => number;
}

const LIMITS: Partial<Record<Channel, BodyLimit>> = {
  INSTAGRAM: { max: 1000, unit: 'UTF-8 bytes', measure: (body) => Buffer.byteLength(body) },
  MESSENGER: { max: 2000, unit: 'characters', measure: countCharacters },
};

/** Why a channel can't take a body, or null if it can. A message is never split or cut. */
export function bodyLimitFault(channel: Channel, body: string): string | null {
  const limit = LIMITS[channel];
  if (!limit || limit.measure(body) <= limit.max) return null;
  return `is longer than the ${limit.max} ${limit.unit} that ${channel} takes`;
}
