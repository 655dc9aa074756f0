import { Text } from '@mantine/core';
import type { Endpoint } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';

/** Counts up to which the service counts exactly: failures of each kind, and pending deliveries. */
const MOST_FAILURES = 1_000;
const MOST_PENDING = 10_000;

/** Says in a sentence how the deliveries of the last 24 hours went. */
export function DaySummary({ endpoint: { health } }: { endpoint: Endpoint }) {
  const texts = useTexts().health;
  const formats = useFormats();
  const { pending, succeeded, exhausted, cancelled, late } = health.last24Hours;
  const write = (count: number, most: number) =>
    count < most ? formats.number(count) : texts.orMore(formats.number(count));
  const areAllLater = late > 0 && pending + exhausted + cancelled === 0;
  const laterText = write(late, MOST_FAILURES);
  const parts = [
    succeeded > 0 && texts.arrived(succeeded, formats.number(succeeded)),
    areAllLater && texts.allLater(late, laterText),
    late > 0 && !areAllLater && texts.later(late, laterText),
    exhausted > 0 && texts.exhausted(exhausted, write(exhausted, MOST_FAILURES)),
    cancelled > 0 && texts.cancelled(cancelled, write(cancelled, MOST_FAILURES)),
    pending > 0 && texts.pending(pending, write(pending, MOST_PENDING)),
  ].filter((part) => part !== false);
  return <Text size="sm">{parts.length === 0 ? texts.none : `${parts.join('; ')}.`}</Text>;
}
