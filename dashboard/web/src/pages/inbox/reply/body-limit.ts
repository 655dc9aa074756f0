// Limits of the server. The types make the compiler refuse any other values.
import type { BodyLimits, Channel, MAX_BODY_CHARACTERS } from '../../../api/types';

const LIMITS: BodyLimits = {
  WIDGET: null,
  WHATSAPP: null,
  TELEGRAM: null,
  MESSENGER: { max: 2000, unit: 'characters' },
  INSTAGRAM: { max: 1000, unit: 'UTF-8 bytes' },
};
const MAX_CHARACTERS: typeof MAX_BODY_CHARACTERS = 4096;

const MEASURES = {
  characters: (body: string) => [...body].length,
  'UTF-8 bytes': (body: string) => new TextEncoder().encode(body).length,
};

/** Measures a message against its channel's limit, in the unit in which the server counts. */
export function measureBody(channel: Channel, body: string) {
  const { max, unit } = LIMITS[channel] ?? ({ max: MAX_CHARACTERS, unit: 'characters' } as const);
  return { used: MEASURES[unit](body), max, unit };
}
