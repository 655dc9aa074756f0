import { Button, Card, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { api } from '../../api/client';
import type { Recovery } from '../../api/types';
import { useChange, useMayManage } from '../../api/workspace';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { useFormats, useTexts } from '../../i18n/locale';
import { useTotalFormat } from './total-format';
import { useRecoveries } from './use-recoveries';

const SHOWN = 3;
const ENDS = ['succeeded', 'exhausted', 'cancelled', 'pending'] as const;

/** Lists the newest 3 of an endpoint's recoveries and redeliveries that run, or of those that ended. */
export function RecoveriesSection({ endpointId, isRunning }: { endpointId: string; isRunning: boolean }) {
  const texts = useTexts();
  const recoveries = useRecoveries(endpointId);
  const ofKind = recoveries.data?.data.filter(({ status }) => (status === 'running') === isRunning);
  const recent = ofKind?.slice(0, SHOWN) ?? [];
  if (recent.length === 0) return null;
  return (
    <Card withBorder component="section" aria-label={texts.recoveries.title}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {texts.recoveries.title}
        </Title>
        {recent.map((recovery) => (
          <RecoveryProgress key={recovery.id} recovery={recovery} />
        ))}
      </Stack>
    </Card>
  );
}

function RecoveryProgress({ recovery }: { recovery: Recovery }) {
  const texts = useTexts();
  const formats = useFormats();
  const mayManage = useMayManage();
  const { id, kind, status, total, recovered, isAllMade, pending, finishedAt } = recovery;
  const cancel = useChange((at) => api.post(`${at}/recoveries/${id}/cancel`), texts.recoveries.cancelledDone);
  const isRunning = status === 'running';
  const name = texts.recoveries.kind[kind];
  const progress = useProgress(recovery);
  const ended = recovered - (pending ?? 0);
  // Leaves out succeeded deliveries of a completed recovery, because its progress text names their number.
  const ends = ENDS.filter((end) => recovery[end] && !(status === 'completed' && end === 'succeeded'));
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {name}: {texts.recoveries.status[status]} · {progress}
        </Text>
        {isRunning
          ? mayManage &&
            !isAllMade && (
              <Button
                size="compact-sm"
                variant="default"
                loading={cancel.isPending}
                onClick={() => cancel.mutate()}
              >
                {texts.common.cancel}
              </Button>
            )
          : finishedAt && (
              <Text size="sm" c="dimmed">
                <Moment at={finishedAt} />
              </Text>
            )}
      </Group>
      {ends.length > 0 && (
        <Text size="sm" c="dimmed">
          {ends.map((end) => `${formats.number(recovery[end]!)} ${texts.deliveries.status[end]}`).join(' · ')}
        </Text>
      )}
      {isRunning && (
        <Progress
          value={total === 0 ? 100 : Math.min(100, (ended / total) * 100)}
          aria-label={`${name}: ${progress}`}
          animated
        />
      )}
      <ErrorNotice error={cancel.error} />
    </Stack>
  );
}

/** Returns how many deliveries a recovery has made, or after its end how many have succeeded. */
function useProgress(recovery: Recovery): string {
  const { recoveries } = useTexts();
  const formats = useFormats();
  const formatTotal = useTotalFormat();
  const { status, recovered, succeeded } = recovery;
  return status === 'completed' && succeeded !== null
    ? recoveries.succeeded(formats.number(succeeded), formats.number(recovered))
    : recoveries.made(formats.number(recovered), formatTotal(recovery));
}
