import { Alert, Checkbox, List, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { api } from '../../api/client';
import type { Recovery } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { useTexts } from '../../i18n/locale';
import { useTotalFormat } from './total-format';
import { type FilterTexts } from './delivery-filter';
import { useFilterFormat } from './delivery-filters';

/** Delivers again all deliveries that match the filter, by default without succeeded ones. */
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
  const show = useFilterFormat();
  const [includesSucceeded, setIncludesSucceeded] = useState(false);
  const path = `webhook-endpoints/${endpointId}/redeliveries`;
  const asked = { ...filter, ...(includesSucceeded && { includeSucceeded: true }) };
  const count = useChange((at, counted: object) =>
    api.post<Recovery>(`${at}/${path}`, { filter: counted, dryRun: true }),
  );
  const start = useChange(
    (at) => api.post<Recovery>(`${at}/${path}`, { filter: asked, dryRun: false }),
    texts.redeliver.begun,
  );
  const { mutate: countNow } = count;
  useEffect(() => {
    const timer = setTimeout(() => countNow(filter));
    return () => clearTimeout(timer);
    // The effect does not depend on `filter`, because it can't change while the dialog is open.
  }, [countNow]);
  const total = count.isPending ? undefined : count.data?.total;
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
        <List size="sm" aria-label={texts.filters.title}>
          {Object.entries(filter).map(([name, value]) => (
            <List.Item key={name}>
              {texts.filters[name as keyof FilterTexts]}: {show(name as keyof FilterTexts, value)}
            </List.Item>
          ))}
        </List>
        {!filter.status && (
          <Checkbox
            label={texts.redeliver.includeSucceeded}
            checked={includesSucceeded}
            onChange={({ currentTarget: { checked } }) => {
              setIncludesSucceeded(checked);
              countNow({ ...filter, ...(checked && { includeSucceeded: true }) });
            }}
          />
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
