import { Text } from '@mantine/core';
import type { ParkedEvent } from '../../api/types';
import { useRead } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { Moment } from '../../common/moment';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';

/** Lists events that the service could not process. Only an operator can have them retried or given up. */
export function ParkedEventsSection() {
  const texts = useTexts();
  const parked = useRead<{ data: ParkedEvent[] }>('parked-events');
  const columns: Column<ParkedEvent>[] = [
    {
      header: texts.parked.event,
      cell: ({ eventId }) => (
        <Text size="xs" ff="monospace">
          {eventId}
        </Text>
      ),
    },
    { header: texts.parked.consumer, cell: ({ consumer }) => consumer },
    { header: texts.parked.error, cell: ({ error }) => <Text size="sm">{error}</Text> },
    { header: texts.parked.since, cell: ({ parkedAt }) => <Moment at={parkedAt} /> },
    {
      header: texts.parked.state,
      cell: ({ request }) => texts.parked.requests[request ?? 'NONE'],
    },
  ];
  return (
    <Section title={texts.parked.title} about={texts.parked.about}>
      <DataTable
        name={texts.parked.title}
        query={parked}
        columns={columns}
        rowKey={({ eventId, consumer }) => eventId + consumer}
        empty={<Text size="sm">{texts.parked.none}</Text>}
      />
    </Section>
  );
}
