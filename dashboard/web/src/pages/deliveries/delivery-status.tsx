import { Badge } from '@mantine/core';
import type { DeliverySummary } from '../../api/types';
import { useTexts } from '../../i18n/locale';

const COLORS = { pending: 'blue', succeeded: 'green', exhausted: 'red', cancelled: 'gray' } as const;

export function DeliveryStatus({ status }: { status: DeliverySummary['status'] }) {
  const texts = useTexts();
  return (
    <Badge color={COLORS[status]} miw="max-content">
      {texts.deliveries.status[status]}
    </Badge>
  );
}
