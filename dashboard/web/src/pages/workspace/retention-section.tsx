import { NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import { useChange, useMayManage } from '../../api/workspace';
import { ConfirmDialog, Form } from '../../common/dialogs';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';

const MAX_DAYS = 36_500;

/**
 * Form for the days after which messages are erased; an empty field keeps them. A shorter time erases
 * messages, so the form asks for a confirmation.
 */
export function RetentionSection({ days }: { days: number | null }) {
  const texts = useTexts();
  const mayManage = useMayManage();
  const [typed, setTyped] = useState<string | number>(days ?? '');
  const [isAsking, setAsking] = useState(false);
  const wanted = typed === '' ? null : Number(typed);
  const save = useChange((at) => api.patch(at, { messageRetentionDays: wanted }), texts.retention.saved);
  const erasesMore = wanted !== null && (days === null || wanted < days);
  const submit = () => (erasesMore ? setAsking(true) : save.mutate());
  return (
    <Section title={texts.retention.title} about={texts.retention.about}>
      <Form
        action={texts.common.save}
        isPending={save.isPending}
        isDisabled={!mayManage || wanted === days}
        error={isAsking ? null : save.error}
        onSubmit={submit}
      >
        <NumberInput
          label={texts.retention.days}
          description={texts.retention.daysAdvice}
          min={1}
          max={MAX_DAYS}
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
          title={texts.retention.confirm}
          action={texts.retention.erase}
          name={String(wanted)}
          isPending={save.isPending}
          error={save.error}
          onConfirm={() => save.mutate(undefined, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">{texts.retention.confirmAdvice(wanted!)}</Text>
        </ConfirmDialog>
      )}
    </Section>
  );
}
