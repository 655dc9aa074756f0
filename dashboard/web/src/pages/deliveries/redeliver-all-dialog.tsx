import { Alert, List, Text } from '@mantine/core';
import { useEffect } from 'react';
import { api } from '../../api/client';
import type { Recovery } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog, Form } from '../../common/dialogs';
import { useTexts } from '../../i18n/locale';
import { useTotalFormat } from './total-format';
import { type FilterTexts } from './delivery-filter';

/**
 * Dialog that sends again all that the filter matches, on all pages. It shows the number before it begins.
 */
export function RedeliverAllDialog({
  endpointId,
  filter,
  onClose,
}: {
  endpointId: string;
  filter: FilterTexts;
  onClose: () => void;
}) {
  const texts = useTexts();
  const formatTotal = useTotalFormat();
  const path = `webhook-endpoints/${endpointId}/redeliveries`;
  const count = useChange((at) => api.post<Recovery>(`${at}/${path}`, { filter, dryRun: true }));
  const start = useChange(
    (at) => api.post<Recovery>(`${at}/${path}`, { filter, dryRun: false }),
    texts.redeliver.begun,
  );
  const { mutate: countNow } = count;
  useEffect(() => {
    const timer = setTimeout(() => countNow());
    return () => clearTimeout(timer);
  }, [countNow]);
  const total = count.data?.total;
  const filters = Object.entries(filter);
  return (
    <Dialog title={texts.redeliver.allMatching} onClose={onClose}>
      <Form
        action={count.data ? texts.redeliver.start(formatTotal(count.data)) : texts.redeliver.allMatching}
        isPending={count.isPending || start.isPending}
        isDisabled={!total}
        error={count.error ?? start.error}
        onSubmit={() => start.mutate(undefined, { onSuccess: onClose })}
        onCancel={onClose}
      >
        {filters.length === 0 ? (
          <Text size="sm">{texts.redeliver.noFilter}</Text>
        ) : (
          <List size="sm" aria-label={texts.filters.title}>
            {filters.map(([name, value]) => (
              <List.Item key={name}>
                {texts.filters[name as keyof FilterTexts]}: {value}
              </List.Item>
            ))}
          </List>
        )}
        <div role="status">
          {total === undefined ? (
            !count.error && <Text size="sm">{texts.redeliver.counting}</Text>
          ) : (
            <Alert color={total === 0 ? 'gray' : 'blue'}>
              {texts.redeliver.counted(total, formatTotal(count.data!))}
            </Alert>
          )}
        </div>
      </Form>
    </Dialog>
  );
}
