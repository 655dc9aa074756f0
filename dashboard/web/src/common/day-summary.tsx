import { Text } from '@mantine/core';
import type { Endpoint } from '../api/types';
import { useTexts } from '../i18n/locale';

type Counts = Endpoint['health']['last24Hours'];

/** Says how many of the last 24 hours' deliveries succeeded, failed or wait. `write` formats a number. */
export function DaySummary({
  counts,
  write,
}: {
  counts: Counts;
  write: (count: number, name: keyof Counts) => string;
}) {
  const texts = useTexts().health;
  const { pending, succeeded, exhausted, cancelled, late } = counts;
  const areAllLater = late > 0 && pending + exhausted + cancelled === 0;
  const parts = [
    succeeded > 0 && texts.arrived(succeeded, write(succeeded, 'succeeded')),
    areAllLater && texts.allLater(late, write(late, 'late')),
    late > 0 && !areAllLater && texts.later(late, write(late, 'late')),
    exhausted > 0 && texts.exhausted(exhausted, write(exhausted, 'exhausted')),
    cancelled > 0 && texts.cancelled(cancelled, write(cancelled, 'cancelled')),
    pending > 0 && texts.pending(pending, write(pending, 'pending')),
  ].filter((part) => part !== false);
  return <Text size="sm">{parts.length === 0 ? texts.none : `${parts.join('; ')}.`}</Text>;
}
