import { Alert, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Endpoint, Recovery } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { fromLocal, toLocal } from '../../common/local-time';
import { useFormats, useTexts } from '../../i18n/locale';
import { useTotalFormat } from './total-format';

const DAY_MS = 86_400_000;

/** Shows how many events the endpoint has missed since a chosen time, and delivers them again. */
export function RecoverDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const texts = useTexts();
  const formats = useFormats();
  const formatTotal = useTotalFormat();
  const [since, setSince] = useState(() => toLocal(endpoint.failingSince ?? dayOf(endpoint)));
  const recover = useChange((at, input: { since: string; dryRun: boolean }) =>
    api.post<Recovery>(`${at}/webhook-endpoints/${endpoint.id}/recoveries`, input),
  );
  const counted = recover.data?.status === 'dry_run' ? recover.data : null;
  const submit = () => {
    const input = { since: fromLocal(since)!, dryRun: counted === null };
    recover.mutate(input, { onSuccess: ({ status }) => status !== 'dry_run' && onClose() });
  };
  return (
    <Dialog title={texts.recover.title} about={endpoint.name ?? endpoint.url} onClose={onClose}>
      <Form
        action={counted ? texts.recover.start(formatTotal(counted)) : texts.recover.count}
        isPending={recover.isPending}
        isDisabled={counted?.total === 0 || fromLocal(since) === undefined}
        error={recover.error}
        onSubmit={submit}
        onCancel={onClose}
      >
        <Text size="sm">{texts.recover.advice}</Text>
        <TextInput
          type="datetime-local"
          step={1}
          label={texts.recover.since}
          required
          data-autofocus
          description={texts.recover.madeAt(formats.moment(endpoint.createdAt))}
          value={since}
          onChange={(event) => {
            recover.reset();
            setSince(event.currentTarget.value);
          }}
        />
        <div role="status">
          {counted && (
            <Alert color={counted.total === 0 ? 'gray' : 'blue'}>
              {texts.recover.counted(counted.total, formatTotal(counted))}
            </Alert>
          )}
        </div>
      </Form>
    </Dialog>
  );
}

/** Returns the time 24 hours ago, or the time at which the endpoint was created if that is later. */
function dayOf({ createdAt }: Endpoint): string {
  const yesterday = new Date(Date.now() - DAY_MS).toISOString();
  return createdAt > yesterday ? createdAt : yesterday;
}
