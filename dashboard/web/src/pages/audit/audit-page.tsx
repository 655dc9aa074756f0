import { Anchor, Button, Card, Code, EmptyState, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { toQuery } from '../../api/client';
import type { Agent, ApiKey, AuditEntry, Page } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { TimeFilter, TypedFilter } from '../../common/filter-fields';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { Pager } from '../../common/pager';
import { useTexts } from '../../i18n/locale';
import { Changes } from './changes';

const route = getRouteApi('/inside/w/$slug/settings/audit');

export function AuditPage() {
  const texts = useTexts();
  const { id } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { cursor, ...filter } = search;
  const entries = useRead<Page<AuditEntry>>('audit-entries', search);
  const columns = useColumns();
  const set = (change: typeof filter) =>
    void navigate({ search: { ...filter, ...change }, resetScroll: false });
  return (
    <PageLayout
      title={texts.audit.title}
      about={texts.audit.about}
      actions={
        <Button
          component="a"
          variant="default"
          href={`/api/workspaces/${id}/audit-entries/export${toQuery(filter)}`}
          download
        >
          {texts.audit.export}
        </Button>
      }
    >
      <Card withBorder component="search" aria-label={texts.filters.title}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          <TypedFilter
            label={texts.audit.action}
            placeholder="api_key.revoked"
            value={filter.action}
            onChange={(action) => set({ action })}
          />
          <TypedFilter label={texts.audit.actor} value={filter.actor} onChange={(actor) => set({ actor })} />
          <TypedFilter
            label={texts.audit.entity}
            placeholder="webhook_endpoint"
            value={filter.entity}
            onChange={(entity) => set({ entity })}
          />
          <TypedFilter
            label={texts.audit.entityId}
            value={filter.entityId}
            onChange={(entityId) => set({ entityId })}
          />
          <TimeFilter label={texts.filters.since} value={filter.since} onChange={(since) => set({ since })} />
          <TimeFilter label={texts.filters.until} value={filter.until} onChange={(until) => set({ until })} />
        </SimpleGrid>
        {Object.keys(filter).length > 0 && (
          <Group mt="sm">
            <Button size="compact-sm" variant="default" onClick={() => void navigate({ search: {} })}>
              {texts.filters.clear}
            </Button>
          </Group>
        )}
      </Card>
      <DataTable
        name={texts.audit.title}
        query={entries}
        columns={columns}
        rowKey={({ id: entryId }) => entryId}
        empty={
          <EmptyState
            title={Object.keys(filter).length > 0 ? texts.audit.noneMatch : texts.audit.none}
            description={texts.audit.noneAdvice}
          />
        }
      />
      <Pager
        cursor={cursor}
        nextCursor={entries.data?.nextCursor}
        onMove={(to) => void navigate({ search: { ...filter, cursor: to } })}
      />
    </PageLayout>
  );
}

function useColumns(): Column<AuditEntry>[] {
  const texts = useTexts();
  const navigate = route.useNavigate();
  const nameOf = useActorNames();
  return [
    { header: texts.audit.when, cell: ({ createdAt }) => <Moment at={createdAt} isExact /> },
    {
      header: texts.audit.action,
      cell: ({ action, entity, entityId }) => (
        <Stack gap={2} align="start">
          <Text size="sm" fw={500}>
            {action}
          </Text>
          <Anchor
            component="button"
            type="button"
            size="xs"
            ff="monospace"
            ta="start"
            className="breakable"
            aria-label={texts.audit.onlyOf(entityId)}
            onClick={() => void navigate({ search: { entity, entityId } })}
          >
            {entityId}
          </Anchor>
        </Stack>
      ),
    },
    {
      header: texts.audit.actor,
      cell: (entry) => (
        <Stack gap={2}>
          <Text size="sm">{nameOf(entry)}</Text>
          <Text size="xs" c="dimmed">
            {entry.address}
          </Text>
        </Stack>
      ),
    },
    { header: texts.audit.changes, cell: (entry) => <Changes entry={entry} /> },
    {
      header: texts.audit.details,
      cell: ({ metadata, userAgent, requestId }) => (
        <Text component="details" size="sm">
          <summary>{texts.audit.show}</summary>
          <Stack gap={4} mt={4}>
            {Object.keys(metadata).length > 0 && (
              <Code block tabIndex={0} role="region" aria-label={texts.audit.details}>
                {JSON.stringify(metadata, null, 2)}
              </Code>
            )}
            {userAgent && <Text size="xs">{userAgent}</Text>}
            {requestId && (
              <Text size="xs">
                {texts.errors.requestId} <Code>{requestId}</Code>
              </Text>
            )}
          </Stack>
        </Text>
      ),
    },
  ];
}

/** Returns a function that names an entry's agent or key, where the name is known. */
function useActorNames(): (entry: AuditEntry) => string {
  const texts = useTexts();
  const agents = useRead<{ data: Agent[] }>('agents', {}, { refreshMs: false });
  const keys = useRead<Page<ApiKey>>('api-keys', {}, { refreshMs: false });
  return ({ actorType, actorId, actorName }) => {
    const named = [...(agents.data?.data ?? []), ...(keys.data?.data ?? [])].find(({ id }) => id === actorId);
    const name = named?.name ?? actorName ?? actorId;
    return name === null ? texts.audit.actors[actorType] : `${texts.audit.actors[actorType]}: ${name}`;
  };
}
