import { Group, Text } from '@mantine/core';
import type { ManagedFirstPage } from '../../api/types';
import { Section } from '../../common/section';
import { useFormats, useTexts } from '../../i18n/locale';
import classes from './overview.module.css';

type Bucket = ManagedFirstPage['webhooks']['buckets'][number];

/** Number of times that are written below the chart. */
const LABELS = 6;

/** Chart of the attempts for all endpoints in the last 24 hours. */
export function DaySection({ buckets }: { buckets: Bucket[] }) {
  const texts = useTexts();
  const formats = useFormats();
  const succeeded = sum(buckets, (bucket) => bucket.succeeded);
  const failed = sum(buckets, (bucket) => bucket.failed);
  const most = Math.max(1, ...buckets.map((bucket) => bucket.succeeded + bucket.failed));
  const summary = texts.overview.attempts(formats.number(succeeded), formats.number(failed));
  return (
    <Section
      title={texts.overview.day}
      about={texts.overview.dayAbout}
      actions={
        <Group gap="md" className="numbers">
          <Text size="sm" className={classes.key} data-outcome="succeeded">
            {texts.overview.succeeded(formats.number(succeeded))}
          </Text>
          <Text size="sm" className={classes.key} data-outcome="failed">
            {texts.overview.failed(formats.number(failed))}
          </Text>
        </Group>
      }
    >
      <div>
        <div className={classes.chart} role="img" aria-label={summary}>
          {buckets.map((bucket) => (
            <div
              key={bucket.from}
              className={classes.bucket}
              title={texts.overview.bucket(
                formats.time(bucket.from),
                formats.number(bucket.succeeded),
                formats.number(bucket.failed),
              )}
            >
              <span data-outcome="failed" style={{ height: `${(bucket.failed / most) * 100}%` }} />
              <span data-outcome="succeeded" style={{ height: `${(bucket.succeeded / most) * 100}%` }} />
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
    </Section>
  );
}

function sum(buckets: Bucket[], of: (bucket: Bucket) => number): number {
  return buckets.reduce((total, bucket) => total + of(bucket), 0);
}
