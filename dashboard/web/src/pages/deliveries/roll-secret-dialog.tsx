import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { CreatedEndpoint, Endpoint } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { useTexts } from '../../i18n/locale';

const HOUR_SECONDS = 3_600;
const GRACE_HOURS = [24, 0, 1, 72, 168];

export function RollSecretDialog({
  endpoint,
  onClose,
  onRolled,
}: {
  endpoint: Endpoint;
  onClose: () => void;
  onRolled: (endpoint: CreatedEndpoint) => void;
}) {
  const texts = useTexts();
  const [graceHours, setGraceHours] = useState('24');
  const roll = useChange((at) =>
    api.post<CreatedEndpoint>(`${at}/webhook-endpoints/${endpoint.id}/roll-secret`, {
      gracePeriodSeconds: Number(graceHours) * HOUR_SECONDS,
    }),
  );
  return (
    <Dialog title={texts.webhooks.roll} about={endpoint.name ?? endpoint.url} onClose={onClose}>
      <Form
        action={texts.webhooks.roll}
        isPending={roll.isPending}
        error={roll.error}
        onSubmit={() => roll.mutate(undefined, { onSuccess: onRolled })}
        onCancel={onClose}
      >
        <Text size="sm">{texts.webhooks.rollAdvice}</Text>
        <NativeSelect
          label={texts.webhooks.gracePeriod}
          value={graceHours}
          onChange={(event) => setGraceHours(event.currentTarget.value)}
          data={GRACE_HOURS.map((hours) => ({
            value: String(hours),
            label: hours === 0 ? texts.webhooks.noGrace : texts.common.hours(hours),
          }))}
        />
      </Form>
    </Dialog>
  );
}
