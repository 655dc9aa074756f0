import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { LoginSession } from '../../api/types';
import { type Column, DataTable } from '../../common/data-table';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { nameOfBrowser } from './browser-name';
import { useAccountChange } from './use-account-change';

const REFRESH_MS = 15_000;

export function SessionsSection() {
  const texts = useTexts();
  const sessions = useQuery({
    queryKey: ['account', 'sessions'],
    queryFn: ({ signal }) => api.get<{ data: LoginSession[] }>('/account/sessions', signal),
    refetchInterval: REFRESH_MS,
  });
  const end = useAccountChange((id: string) => api.delete(`/account/sessions/${id}`), texts.sessions.ended);
  const endOthers = useAccountChange(
    () => api.post('/account/sessions/revoke-others'),
    texts.sessions.othersEnded,
  );
  const columns: Column<LoginSession>[] = [
    {
      header: texts.sessions.browser,
      cell: ({ userAgent, address, isCurrent }) => (
        <Stack gap={2}>
          <Group gap="xs">
            <Text inherit>{nameOfBrowser(userAgent) ?? texts.sessions.unknownBrowser}</Text>
            {isCurrent && <Badge color="green">{texts.sessions.current}</Badge>}
          </Group>
          <Text size="xs" c="dimmed">
            {address}
          </Text>
        </Stack>
      ),
    },
    { header: texts.sessions.begun, cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { header: texts.sessions.lastUsed, cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
    {
      header: texts.common.actions,
      isActions: true,
      cell: ({ id, isCurrent, userAgent }) =>
        !isCurrent && (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={texts.sessions.endNamed(nameOfBrowser(userAgent) ?? texts.sessions.unknownBrowser)}
            loading={end.isPending && end.variables === id}
            onClick={() => end.mutate(id)}
          >
            {texts.sessions.end}
          </Button>
        ),
    },
  ];
  return (
    <Section
      title={texts.sessions.title}
      about={texts.sessions.about}
      actions={
        <Button
          variant="default"
          disabled={(sessions.data?.data.length ?? 0) < 2}
          loading={endOthers.isPending}
          onClick={() => endOthers.mutate()}
        >
          {texts.sessions.endOthers}
        </Button>
      }
    >
      <ErrorNotice error={end.error ?? endOthers.error} />
      <DataTable
        name={texts.sessions.title}
        query={sessions}
        columns={columns}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Section>
  );
}
