import {
  Anchor,
  Button,
  Code,
  EmptyState,
  Group,
  NativeSelect,
  Stack,
  Text,
  VisuallyHidden,
} from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { toQuery } from '../../api/client';
import type { AuditEntry, AuditValues, Page } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { FilterBar } from '../../common/filter-bar';
import { TimeFilter, TypedFilter } from '../../common/filter-fields';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { Pager } from '../../common/pager';
import { shortId } from '../../common/short-id';
import { useFormats, useTexts } from '../../i18n/locale';
import { useAuditWords } from './audit-words';
import { Changes } from './changes';
import { useAuditTexts } from './audit-texts';

const route = getRouteApi('/inside/w/$slug/settings/audit');

type Filter = Partial<Record<'action' | 'actor' | 'entity' | 'entityId' | 'since' | 'until', string>>;

export function AuditPage() {
  const audit = useAuditTexts();
  const { id } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { cursor, ...filter } = search;
  const entries = useRead<Page<AuditEntry>>('audit-entries', search);
  const columns = useColumns();
  const exportAs = (format: 'csv' | 'ndjson') =>
    `/api/workspaces/${id}/audit-entries/export${toQuery({ ...filter, format })}`;
  return (
    <PageLayout
      title={audit.title}
      about={audit.about}
      actions={
        <>
          <Button component="a" variant="default" href={exportAs('csv')} download>
            {audit.exportCsv}
          </Button>
          <Button component="a" variant="default" href={exportAs('ndjson')} download>
            {audit.exportJson}
          </Button>
        </>
      }
    >
      <AuditFilters
        filter={filter}
        onChange={(changed) => void navigate({ search: changed, resetScroll: false })}
      />
      <DataTable
        name={audit.title}
        query={entries}
        columns={columns}
        rowKey={({ id: entryId }) => entryId}
        empty={
          <EmptyState
            title={Object.keys(filter).length > 0 ? audit.noneMatch : audit.none}
            description={audit.noneAdvice}
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

function AuditFilters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const texts = useTexts();
  const audit = useAuditTexts();
  const formats = useFormats();
  const words = useAuditWords();
  const values = useRead<AuditValues>('audit-entries/values', {}, { refreshMs: false });
  const set = (change: Filter) => onChange({ ...filter, ...change });
  const fields: [name: keyof Filter, label: string, write: (value: string) => string][] = [
    ['action', audit.action, words.action],
    ['actor', audit.actor, words.actor],
    ['entity', audit.entity, words.entity],
    ['entityId', audit.entityId, shortId],
    ['since', texts.filters.since, formats.moment],
    ['until', texts.filters.until, formats.moment],
  ];
  return (
    <FilterBar
      active={fields
        .filter(([name]) => filter[name])
        .map(([name, label, write]) => ({
          label,
          value: write(filter[name]!),
          onRemove: () => set({ [name]: undefined }),
        }))}
      onClear={() => onChange({})}
    >
      <Choice
        label={audit.action}
        value={filter.action}
        values={values.data?.actions}
        write={words.action}
        onChange={(action) => set({ action })}
      />
      <Choice
        label={audit.actor}
        value={filter.actor}
        values={values.data?.actors}
        write={words.actor}
        onChange={(actor) => set({ actor })}
      />
      <Choice
        label={audit.entity}
        value={filter.entity}
        values={values.data?.entities}
        write={words.entity}
        onChange={(entity) => set({ entity })}
      />
      <TypedFilter
        label={audit.entityId}
        value={filter.entityId}
        onChange={(entityId) => set({ entityId })}
      />
      <TimeFilter label={texts.filters.since} value={filter.since} onChange={(since) => set({ since })} />
      <TimeFilter label={texts.filters.until} value={filter.until} onChange={(until) => set({ until })} />
    </FilterBar>
  );
}

/** Shows a select field of `values`, sorted by label. Adds the chosen value if `values` lacks it. */
function Choice({
  label,
  value,
  values = [],
  write,
  onChange,
}: {
  label: string;
  value: string | undefined;
  values: string[] | undefined;
  write: (value: string) => string;
  onChange: (value: string | undefined) => void;
}) {
  const texts = useTexts();
  const all = value && !values.includes(value) ? [...values, value] : values;
  const choices = all.map((one) => ({ value: one, label: write(one) }));
  choices.sort((a, b) => a.label.localeCompare(b.label));
  return (
    <NativeSelect
      label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      data={[{ value: '', label: texts.filters.any }, ...choices]}
    />
  );
}

function useColumns(): Column<AuditEntry>[] {
  const audit = useAuditTexts();
  const navigate = route.useNavigate();
  const words = useAuditWords();
  return [
    { header: audit.when, cell: ({ createdAt }) => <Moment at={createdAt} isExact /> },
    {
      header: audit.action,
      cell: (entry) => (
        <Stack gap={2} align="start">
          <Text size="sm" fw={500}>
            {words.action(entry.action)}
          </Text>
          <Group gap={6}>
            {words.thing(entry) && <Text size="xs">{words.thing(entry)}</Text>}
            <Anchor
              component="button"
              type="button"
              size="xs"
              ff="monospace"
              title={entry.entityId}
              onClick={() => void navigate({ search: { entity: entry.entity, entityId: entry.entityId } })}
            >
              <VisuallyHidden>{audit.onlyOf(entry.entityId)}</VisuallyHidden>
              <span aria-hidden>{shortId(entry.entityId)}</span>
            </Anchor>
          </Group>
        </Stack>
      ),
    },
    {
      header: audit.actor,
      cell: (entry) => (
        <Stack gap={2}>
          <Text size="sm">{words.actor(actorOf(entry))}</Text>
          <Text size="xs" c="dimmed">
            {[isNamed(entry) && audit.actors[entry.actorType], entry.address].filter(Boolean).join(' · ')}
          </Text>
        </Stack>
      ),
    },
    { header: audit.changes, cell: (entry) => <Changes entry={entry} /> },
    { header: audit.details, cell: (entry) => <Details entry={entry} /> },
  ];
}

/** Returns an entry's actor in the form of the filter: an id, `operator:<name>` or `system`. */
function actorOf({ actorType, actorId, actorName }: AuditEntry): string {
  return actorId ?? (actorName === null ? actorType : `${actorType}:${actorName}`);
}

/** Reports whether an actor's text is only a name, so that the type, such as agent, must be added. */
function isNamed({ actorType }: AuditEntry): boolean {
  return actorType === 'agent' || actorType === 'api_key';
}

function Details({ entry: { action, entityId, metadata, userAgent, requestId } }: { entry: AuditEntry }) {
  const texts = useTexts();
  const audit = useAuditTexts();
  return (
    <Text component="details" size="sm">
      <summary style={{ whiteSpace: 'nowrap' }}>{audit.show}</summary>
      <Stack gap={4} mt={4}>
        <Code className="breakable">{action}</Code>
        <Code className="breakable">{entityId}</Code>
        {Object.keys(metadata).length > 0 && (
          <Code block tabIndex={0} role="region" aria-label={audit.details}>
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
  );
}
