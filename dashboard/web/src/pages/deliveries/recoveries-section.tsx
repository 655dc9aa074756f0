import { Button, Card, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { api } from '../../api/client';
import type { Recovery } from '../../api/types';
import { useChange, useMayManage, useRead } from '../../api/workspace';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { useFormats, useTexts } from '../../i18n/locale';
import { useTotalFormat } from './total-format';

const RUNNING_REFRESH_MS = 2_000;
const SHOWN = 3;

/** Lists the recovery or redelivery that is running, or the last ones that have ended. */
export function RecoveriesSection({ endpointId, isRunning }: { endpointId: string; isRunning: boolean }) {
  const texts = useTexts();
  const recoveries = useRead<{ data: Recovery[] }>(
    `webhook-endpoints/${endpointId}/recoveries`,
    {},
    { refreshMs: RUNNING_REFRESH_MS },
  );
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
  const formatTotal = useTotalFormat();
  const mayManage = useMayManage();
  const { id, kind, status, total, recovered, finishedAt } = recovery;
  const cancel = useChange((at) => api.post(`${at}/recoveries/${id}/cancel`), texts.recoveries.cancelledDone);
  const isRunning = status === 'running';
  const name = texts.recoveries.kind[kind];
  const all = formatTotal(recovery);
  const progress = texts.recoveries.progress(formats.number(recovered), all);
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {name}: {texts.recoveries.status[status]} · {progress}
        </Text>
        {isRunning ? (
          mayManage && (
            <Button
              size="compact-sm"
              variant="default"
              loading={cancel.isPending}
              onClick={() => cancel.mutate()}
            >
              {texts.common.cancel}
            </Button>
          )
        ) : (
          <Text size="sm" c="dimmed">
            <Moment at={finishedAt} />
          </Text>
        )}
      </Group>
      {isRunning && (
        <Progress
          value={total === 0 ? 100 : Math.min(100, (recovered / total) * 100)}
          aria-label={`${name}: ${progress}`}
          animated
        />
      )}
      <ErrorNotice error={cancel.error} />
    </Stack>
  );
}
