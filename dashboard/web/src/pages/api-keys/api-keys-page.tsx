import { Badge, Button, EmptyState, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent, ApiKey, CreatedApiKey, Page } from '../../api/types';
import { useMayManage, useRead } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { Pager } from '../../common/pager';
import { useNow } from '../../common/use-now';
import { useTexts } from '../../i18n/locale';
import { CreateKeyDialog } from './create-key-dialog';
import { NewKeyDialog } from './new-key-dialog';
import { RevokeKeyDialog } from './revoke-key-dialog';
import { SCOPES } from './scopes';
import { useApiKeyTexts } from './api-key-texts';

const route = getRouteApi('/inside/w/$slug/settings/api-keys');
const MINUTE_MS = 60_000;

export function ApiKeysPage() {
  const apiKeys = useApiKeyTexts();
  const mayManage = useMayManage();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useRead<Page<ApiKey>>('api-keys', { cursor });
  const columns = useColumns((key) => setRevoking(key));
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);

  const create = (
    <Button onClick={() => setCreating(true)} disabled={!mayManage}>
      {apiKeys.create}
    </Button>
  );
  return (
    <PageLayout title={apiKeys.title} about={apiKeys.about} actions={mayManage && create}>
      <DataTable
        name={apiKeys.title}
        query={keys}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={apiKeys.none} description={apiKeys.noneAdvice}>
            {mayManage && <EmptyState.Actions>{create}</EmptyState.Actions>}
          </EmptyState>
        }
      />
      <Pager
        cursor={cursor}
        nextCursor={keys.data?.nextCursor}
        onMove={(to) => void navigate({ search: (search) => ({ ...search, cursor: to }) })}
      />
      {isCreating && (
        <CreateKeyDialog
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setCreated(key);
          }}
        />
      )}
      {created && <NewKeyDialog apiKey={created} onClose={() => setCreated(null)} />}
      {revoking && <RevokeKeyDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </PageLayout>
  );
}

function useColumns(onRevoke: (key: ApiKey) => void): Column<ApiKey>[] {
  const texts = useTexts();
  const apiKeys = useApiKeyTexts();
  const mayManage = useMayManage();
  const agents = useRead<{ data: Agent[] }>('agents', {}, { refreshMs: false });
  const nameOf = (agentId: string | null) => agents.data?.data.find(({ id }) => id === agentId)?.name;
  return [
    {
      header: apiKeys.name,
      cell: (key) => (
        <Stack gap={2}>
          <Group gap="xs">
            <Text fw={500} inherit>
              {key.name}
            </Text>
            <KeyState apiKey={key} />
          </Group>
          <Text ff="monospace" size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {key.preview}
          </Text>
        </Stack>
      ),
    },
    {
      header: apiKeys.scopes,
      cell: ({ scopes, allowedNetworks }) => (
        <Stack gap={4}>
          <Group gap={4}>
            {(scopes.length === SCOPES.length ? [apiKeys.everything] : scopes).map((scope) => (
              <Badge key={scope} variant="default">
                {scope}
              </Badge>
            ))}
          </Group>
          {allowedNetworks && (
            <Text size="xs" c="dimmed">
              {apiKeys.onlyFrom(allowedNetworks.join(', '))}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      header: apiKeys.created,
      cell: ({ createdAt, createdBy }) => (
        <Stack gap={2}>
          <Moment at={createdAt} isExact />
          <Text size="xs" c="dimmed">
            {nameOf(createdBy) ?? apiKeys.byOperator}
          </Text>
        </Stack>
      ),
    },
    {
      header: apiKeys.lastUsed,
      cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} none={texts.common.never} isExact />,
    },
    {
      header: apiKeys.expires,
      cell: ({ expiresAt }) => <Moment at={expiresAt} none={texts.common.never} isExact mayBeAhead />,
    },
    {
      header: texts.common.actions,
      isActions: true,
      cell: (key) =>
        mayManage &&
        !key.revokedAt && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            aria-label={apiKeys.revokeNamed(key.name)}
            onClick={() => onRevoke(key)}
          >
            {apiKeys.revoke}
          </Button>
        ),
    },
  ];
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const apiKeys = useApiKeyTexts();
  const now = useNow(MINUTE_MS);
  if (apiKey.revokedAt) return <Badge color="red">{apiKeys.revoked}</Badge>;
  if (apiKey.expiresAt && Date.parse(apiKey.expiresAt) <= now) {
    return <Badge color="yellow">{apiKeys.expired}</Badge>;
  }
  return null;
}
