import { Button, Card, Group, NativeSelect, SimpleGrid } from '@mantine/core';
import type { EventTypeInfo } from '../../api/types';
import { useRead } from '../../api/workspace';
import { TimeFilter, TypedFilter } from '../../common/filter-fields';
import { useTexts } from '../../i18n/locale';
import type { FilterTexts } from './delivery-filter';

/** Fields of the filters. Each takes effect when it is complete, and stands in the page's address. */
export function DeliveryFilters({
  filter,
  onChange,
}: {
  filter: FilterTexts;
  onChange: (filter: FilterTexts) => void;
}) {
  const texts = useTexts();
  const types = useRead<{ data: EventTypeInfo[] }>('event-types', {}, { refreshMs: false });
  const set = (change: FilterTexts) => onChange({ ...filter, ...change });
  const any = { value: '', label: texts.filters.any };
  return (
    <Card withBorder component="search" aria-label={texts.filters.title}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <NativeSelect
          label={texts.filters.status}
          value={filter.status ?? ''}
          onChange={(event) => set({ status: event.currentTarget.value })}
          data={[any, ...choicesOf(texts.deliveries.status)]}
        />
        <NativeSelect
          label={texts.filters.event}
          value={filter.event ?? ''}
          onChange={(event) => set({ event: event.currentTarget.value })}
          data={[any, ...(types.data?.data.map(({ type }) => type) ?? [])]}
        />
        <TypedFilter
          label={texts.filters.statusCode}
          placeholder={texts.filters.statusCodeExample}
          value={filter.statusCode}
          onChange={(statusCode) => set({ statusCode })}
        />
        <NativeSelect
          label={texts.filters.error}
          value={filter.error ?? ''}
          onChange={(event) => set({ error: event.currentTarget.value })}
          data={[any, ...choicesOf(texts.attempts.error)]}
        />
        <TimeFilter label={texts.filters.since} value={filter.since} onChange={(since) => set({ since })} />
        <TimeFilter label={texts.filters.until} value={filter.until} onChange={(until) => set({ until })} />
        <TypedFilter
          label={texts.filters.conversationId}
          value={filter.conversationId}
          onChange={(conversationId) => set({ conversationId })}
        />
        <TypedFilter
          label={texts.filters.messageId}
          value={filter.messageId}
          onChange={(messageId) => set({ messageId })}
        />
      </SimpleGrid>
      {Object.keys(filter).length > 0 && (
        <Group mt="sm">
          <Button size="compact-sm" variant="default" onClick={() => onChange({})}>
            {texts.filters.clear}
          </Button>
        </Group>
      )}
    </Card>
  );
}

/** Returns a choice for each name that has a text. */
function choicesOf(labels: Record<string, string>): { value: string; label: string }[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
