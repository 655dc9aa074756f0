import { Badge } from '@mantine/core';
import type { Delivery } from '../../api/types';
import { useTexts } from '../../i18n/locale';

const COLORS = { pending: 'blue', succeeded: 'green', exhausted: 'red', cancelled: 'gray' } as const;

export function DeliveryStatus({ status }: { status: Delivery['status'] }) {
  const texts = useTexts();
  return <Badge color={COLORS[status]}>{texts.deliveries.status[status]}</Badge>;
}
