import { NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { useChange, useMayManage, useWorkspace } from '../../api/workspace';
import { ConfirmDialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { PasswordField } from '../../common/password-field';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { useRetentionTexts } from './retention-texts';

const MAX_DAYS = 36_500;

/**
 * Shows a form for the number of days after which messages are erased; an empty field means never. Saving a
 * number requires the person's password, because it erases messages. Only an owner may shorten the time.
 */
export function RetentionSection({ days }: { days: number | null }) {
  const texts = useTexts();
  const retention = useRetentionTexts();
  const mayManage = useMayManage();
  const isOwner = useWorkspace().role === 'OWNER';
  const [typed, setTyped] = useState<string | number>(days ?? '');
  const [password, setPassword] = useState('');
  const [isAsking, setAsking] = useState(false);
  const wanted = typed === '' ? null : Number(typed);
  const isInRange = wanted === null || (wanted >= 1 && wanted <= MAX_DAYS);
  const isShorter = wanted !== null && (days === null || wanted < days);
  const change = { messageRetentionDays: wanted, ...(wanted !== null && { password }) };
  const save = useChange((at) => api.patch(at, change), retention.saved);
  const stopAsking = () => {
    setAsking(false);
    setPassword('');
    save.reset();
  };
  return (
    <Section title={retention.title} about={retention.about}>
      <Form
        action={texts.common.save}
        isPending={save.isPending}
        isDisabled={!mayManage || wanted === days || !isInRange || (isShorter && !isOwner)}
        error={isAsking ? null : save.error}
        onSubmit={() => (wanted === null ? save.mutate() : setAsking(true))}
      >
        <NumberInput
          label={retention.days}
          description={isOwner ? retention.daysAdvice : retention.ownersAlone}
          error={isInRange ? null : retention.daysRange(MAX_DAYS)}
          allowDecimal={false}
          allowNegative={false}
          readOnly={!mayManage}
          value={typed}
          onChange={setTyped}
          maw={280}
          hideControls
        />
      </Form>
      {isAsking && (
        <ConfirmDialog
          title={retention.confirm}
          action={retention.erase}
          isPending={save.isPending}
          error={save.error}
          onConfirm={() => save.mutate(undefined, { onSuccess: stopAsking })}
          onClose={stopAsking}
        >
          <Stack>
            <Text size="sm">{retention.confirmAdvice(wanted!)}</Text>
            <PasswordField
              data-autofocus
              value={password}
              onChange={setPassword}
              error={faultOf(save.error, 'password')}
            />
          </Stack>
        </ConfirmDialog>
      )}
    </Section>
  );
}
