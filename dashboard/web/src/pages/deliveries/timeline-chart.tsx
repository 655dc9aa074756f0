import { Group, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import type { Timeline, TimelineBucket } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';
import classes from './timeline-chart.module.css';

const HEIGHT = 112;
const TOP = 8;
const BOTTOM = 22;
const LEFT = 40;
const RIGHT = 56;
const LABEL_WIDTH = 90;

export function TimelineChart({ timeline, isWeek }: { timeline: Timeline; isWeek: boolean }) {
  const texts = useTexts();
  const formats = useFormats();
  const { ref, width } = useElementSize();
  const { buckets } = timeline;
  const succeeded = sum(buckets, (bucket) => bucket.succeeded);
  const failed = sum(buckets, (bucket) => bucket.failed);
  const slowest = Math.max(0, ...buckets.map(({ p95Ms }) => p95Ms ?? 0));
  const summary = texts.timeline.summary(
    formats.number(succeeded),
    formats.number(failed),
    formats.milliseconds(slowest),
  );
  return (
    <div>
      <div ref={ref}>
        <svg width="100%" height={HEIGHT} role="img" aria-label={summary}>
          {width > 0 && <Plot timeline={timeline} width={width} isWeek={isWeek} />}
        </svg>
      </div>
      {succeeded + failed === 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {texts.timeline.none}
        </Text>
      )}
    </div>
  );
}

export function TimelineLegend() {
  const texts = useTexts();
  return (
    <Group gap="lg" aria-hidden>
      <Key className={classes.keySucceeded!} text={texts.timeline.succeeded} />
      <Key className={classes.keyFailed!} text={texts.timeline.failed} />
      <Key className={classes.keyP95!} text={texts.timeline.p95} />
    </Group>
  );
}

function Plot({ timeline, width, isWeek }: { timeline: Timeline; width: number; isWeek: boolean }) {
  const texts = useTexts();
  const formats = useFormats();
  const { buckets } = timeline;
  const most = niceCeiling(Math.max(1, ...buckets.map(({ succeeded, failed }) => succeeded + failed)));
  const slowest = niceCeiling(Math.max(1, ...buckets.map(({ p95Ms }) => p95Ms ?? 0)));
  const step = (width - LEFT - RIGHT) / Math.max(1, buckets.length);
  const height = HEIGHT - TOP - BOTTOM;
  const yOf = (share: number) => TOP + height * (1 - share);
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / step));
  return (
    <>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line className={classes.grid} x1={LEFT} x2={width - RIGHT} y1={yOf(share)} y2={yOf(share)} />
          <text className={classes.label} x={LEFT - 6} y={yOf(share) + 4} textAnchor="end">
            {share === 0 ? 0 : Number.isInteger(most * share) && formats.number(most * share)}
          </text>
          <text className={classes.label} x={width - RIGHT + 6} y={yOf(share) + 4}>
            {share > 0 && formats.milliseconds(slowest * share)}
          </text>
        </g>
      ))}
      {buckets.map((bucket, index) => {
        const { from, succeeded, failed, p95Ms } = bucket;
        const x = LEFT + index * step;
        const high = (height * succeeded) / most;
        const low = (height * failed) / most;
        const title = texts.timeline.bucket(
          formats.minute(from),
          formats.number(succeeded),
          formats.number(failed),
          p95Ms === null ? '–' : formats.milliseconds(p95Ms),
        );
        return (
          <g key={from} className={classes.bucket}>
            <rect className={classes.hover} x={x} y={TOP} width={step} height={height} />
            <rect
              className={classes.succeeded}
              x={x + step * 0.1}
              y={yOf(0) - high}
              width={step * 0.8}
              height={high}
            />
            <rect
              className={classes.failed}
              x={x + step * 0.1}
              y={yOf(0) - high - low}
              width={step * 0.8}
              height={low}
            />
            {index % every === 0 && (
              <text className={classes.label} x={x} y={HEIGHT - 6}>
                {isWeek ? formats.shortDay(from) : formats.time(from)}
              </text>
            )}
            <title>{title}</title>
          </g>
        );
      })}
      {linesOf(buckets).map((line) => {
        const points = line.map(({ index, ms }) => [LEFT + (index + 0.5) * step, yOf(ms / slowest)] as const);
        const [first] = points;
        return points.length === 1 ? (
          <circle key={line[0]!.index} className={classes.p95Dot} cx={first![0]} cy={first![1]} r={2} />
        ) : (
          <polyline
            key={line[0]!.index}
            className={classes.p95}
            points={points.map((point) => point.join(',')).join(' ')}
          />
        );
      })}
    </>
  );
}

function Key({ className, text }: { className: string; text: string }) {
  return (
    <Text size="xs">
      <span className={`${classes.key} ${className}`} />
      {text}
    </Text>
  );
}

/** Returns the 95th percentiles of the durations as lines. A bucket without attempts interrupts a line. */
function linesOf(buckets: TimelineBucket[]): { index: number; ms: number }[][] {
  const lines: { index: number; ms: number }[][] = [];
  buckets.forEach(({ p95Ms }, index) => {
    if (p95Ms === null) return;
    const last = lines.at(-1);
    if (last?.at(-1)!.index === index - 1) last.push({ index, ms: p95Ms });
    else lines.push([{ index, ms: p95Ms }]);
  });
  return lines;
}

/** Rounds a value up to the next of 1, 2, 5, 10, 20, 50 …, for the end of an axis. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value)!;
}

function sum(buckets: TimelineBucket[], of: (bucket: TimelineBucket) => number): number {
  return buckets.reduce((total, bucket) => total + of(bucket), 0);
}
