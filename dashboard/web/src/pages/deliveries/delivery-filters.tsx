import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EventTypeInfo } from '../../api/types';
import { useRead } from '../../api/workspace';
import { FilterBar } from '../../common/filter-bar';
import { TimeFilter, TypedFilter } from '../../common/filter-fields';
import { useFormats, useTexts } from '../../i18n/locale';
import type { FilterTexts } from './delivery-filter';

export function DeliveryFilters({
  filter,
  onChange,
  actions,
}: {
  filter: FilterTexts;
  onChange: (filter: FilterTexts) => void;
  actions?: ReactNode;
}) {
  const texts = useTexts();
  const show = useFilterFormat();
  const types = useRead<{ data: EventTypeInfo[] }>('event-types', {}, { refreshMs: false });
  const set = (change: FilterTexts) => onChange({ ...filter, ...change });
  const any = { value: '', label: texts.filters.any };
  return (
    <FilterBar
      active={Object.entries(filter).map(([name, value]) => ({
        label: texts.filters[name as keyof FilterTexts],
        value: show(name as keyof FilterTexts, value),
        onRemove: () => set({ [name]: '' }),
      }))}
      onClear={() => onChange({})}
      actions={actions}
    >
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
    </FilterBar>
  );
}

export function useFilterFormat(): (name: keyof FilterTexts, value: string) => string {
  const texts = useTexts();
  const formats = useFormats();
  const names: Record<string, Record<string, string>> = {
    status: texts.deliveries.status,
    error: texts.attempts.error,
  };
  return (name, value) => {
    const isTime = (name === 'since' || name === 'until') && !Number.isNaN(Date.parse(value));
    return isTime ? formats.moment(value) : (names[name]?.[value] ?? value);
  };
}

function choicesOf(labels: Record<string, string>): { value: string; label: string }[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
