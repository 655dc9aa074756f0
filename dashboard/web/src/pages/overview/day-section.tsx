import { Group, Text } from '@mantine/core';
import type { ManagedFirstPage } from '../../api/types';
import { ChartTable } from '../../common/chart-table';
import { DaySummary } from '../../common/day-summary';
import { Section } from '../../common/section';
import { useFormats, useTexts } from '../../i18n/locale';
import { boundedNumber } from './bounded-number';
import classes from './overview.module.css';

type Day = ManagedFirstPage['webhooks'];
type Bucket = Day['buckets'][number];

const LABELS = 6;

/** Outcomes of deliveries, in the order from the bottom of a bar to its top. */
const ENDS = ['atOnce', 'late', 'exhausted'] as const;

export function DaySection({ day: { buckets, pending, exhausted } }: { day: Day }) {
  const texts = useTexts();
  const formats = useFormats();
  const { ends } = texts.overview;
  const counts = {
    pending,
    exhausted,
    cancelled: 0,
    succeeded: sum(buckets, (bucket) => bucket.succeeded),
    late: sum(buckets, (bucket) => bucket.late),
  };
  const bars = buckets.map(({ from, succeeded, late, exhausted }) => ({
    from,
    total: succeeded + exhausted,
    counts: { atOnce: succeeded - late, late, exhausted },
  }));
  const most = Math.max(1, ...bars.map(({ total }) => total));
  return (
    <Section
      title={texts.overview.day}
      about={
        <DaySummary
          counts={counts}
          write={(count, name) =>
            name === 'pending' || name === 'exhausted'
              ? boundedNumber(count, formats.number)
              : formats.number(count)
          }
        />
      }
      actions={
        <Group gap="md" aria-hidden>
          {ENDS.map((end) => (
            <Text key={end} size="sm" className={classes.key} data-end={end}>
              {ends[end]}
            </Text>
          ))}
        </Group>
      }
    >
      <div>
        <div className={classes.chart} role="img" aria-label={texts.overview.day}>
          {bars.map(({ from, counts }) => (
            <div
              key={from}
              className={classes.bucket}
              title={`${formats.time(from)}: ${formats.list(ENDS.map((end) => `${formats.number(counts[end])} ${ends[end]}`))}`}
            >
              {ENDS.map((end) => (
                <span key={end} data-end={end} style={{ height: `${(counts[end] / most) * 100}%` }} />
              ))}
            </div>
          ))}
        </div>
        <div className={classes.times} aria-hidden>
          {buckets
            .filter((_, index) => index % (buckets.length / LABELS) === 0)
            .map(({ from }) => (
              <span key={from}>{formats.time(from)}</span>
            ))}
        </div>
      </div>
      <ChartTable
        name={texts.overview.day}
        columns={[texts.timeline.from, ...ENDS.map((end) => ends[end])]}
        rows={bars
          .filter(({ total }) => total > 0)
          .map(({ from, counts }) => ({
            key: from,
            cells: [formats.time(from), ...ENDS.map((end) => formats.number(counts[end]))],
          }))}
      />
    </Section>
  );
}

function sum(buckets: Bucket[], of: (bucket: Bucket) => number): number {
  return buckets.reduce((total, bucket) => total + of(bucket), 0);
}
