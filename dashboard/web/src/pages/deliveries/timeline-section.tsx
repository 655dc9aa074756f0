import '@mantine/core/styles/SegmentedControl.css';
import { Card, Group, SegmentedControl, Skeleton, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { Timeline } from '../../api/types';
import { useRead } from '../../api/workspace';
import { ChartTable } from '../../common/chart-table';
import { ErrorNotice } from '../../common/error-notice';
import { useFormats, useTexts } from '../../i18n/locale';
import { TimelineChart, TimelineLegend } from './timeline-chart';

const route = getRouteApi('/inside/w/$slug/settings/webhooks/$endpointId');
const REFRESH_MS = 30_000;

export function TimelineSection({ endpointId }: { endpointId: string }) {
  const texts = useTexts();
  const formats = useFormats();
  const navigate = route.useNavigate();
  const { period = '24h' } = route.useSearch();
  const timeline = useRead<Timeline>(
    `webhook-endpoints/${endpointId}/timeline`,
    { period: period === '7d' ? '7d' : '24h' },
    { refreshMs: REFRESH_MS },
  );
  return (
    <Card withBorder component="section" aria-label={texts.timeline.title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {texts.timeline.title}
          </Title>
          <Group gap="md">
            <TimelineLegend />
            <SegmentedControl
              size="xs"
              aria-label={texts.timeline.period}
              value={period === '7d' ? '7d' : '24h'}
              onChange={(chosen) =>
                void navigate({
                  search: (search) => ({ ...search, period: chosen === '24h' ? undefined : chosen }),
                  replace: true,
                  resetScroll: false,
                })
              }
              data={[
                { value: '24h', label: texts.timeline.day },
                { value: '7d', label: texts.timeline.week },
              ]}
            />
          </Group>
        </Group>
        <ErrorNotice error={timeline.error} onRetry={() => void timeline.refetch()} />
        {timeline.data ? (
          <>
            <TimelineChart timeline={timeline.data} isWeek={period === '7d'} />
            <ChartTable
              name={texts.timeline.title}
              columns={[
                texts.timeline.from,
                texts.timeline.succeeded,
                texts.timeline.failed,
                texts.timeline.p95,
              ]}
              rows={timeline.data.buckets
                .filter(({ succeeded, failed }) => succeeded + failed > 0)
                .map(({ from, succeeded, failed, p95Ms }) => ({
                  key: from,
                  cells: [
                    formats.minute(from),
                    formats.number(succeeded),
                    formats.number(failed),
                    p95Ms === null ? '–' : formats.milliseconds(p95Ms),
                  ],
                }))}
            />
          </>
        ) : (
          !timeline.error && <Skeleton height={140} />
        )}
      </Stack>
    </Card>
  );
}
