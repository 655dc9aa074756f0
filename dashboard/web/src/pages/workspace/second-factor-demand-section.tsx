import { Button, NumberInput, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery, useSession } from '../../api/session';
import { useChange, useWorkspace } from '../../api/workspace';
import { Form } from '../../common/form';
import { ErrorNotice } from '../../common/error-notice';
import { Section } from '../../common/section';
import { useDemandTexts } from './demand-texts';

const DEFAULT_DAYS = 7;
const MAX_DAYS = 90;

/** Shows the setting that, after days of grace, opens the workspace only to people with a second factor. */
export function SecondFactorDemandSection() {
  const texts = useDemandTexts();
  const queries = useQueryClient();
  const { person } = useSession();
  const { role, secondFactorGraceDays: days } = useWorkspace();
  const [typed, setTyped] = useState<number | string>(days ?? DEFAULT_DAYS);
  const graceDays = typeof typed === 'number' ? typed : null;
  const isDemanded = days !== null;
  const refresh = { onSuccess: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }) };
  const demand = useChange((at) => api.post(`${at}/second-factor-demand`, { graceDays }), texts.demanded);
  const end = useChange((at) => api.delete(`${at}/second-factor-demand`), texts.ended);
  const isOwner = role === 'OWNER';
  return (
    <Section
      title={texts.title}
      about={isDemanded ? texts.isDemanded(days) : texts.isNotDemanded}
      actions={
        isOwner &&
        isDemanded && (
          <Button variant="default" loading={end.isPending} onClick={() => end.mutate(undefined, refresh)}>
            {texts.end}
          </Button>
        )
      }
    >
      <ErrorNotice error={end.error} />
      {isOwner && !person.hasSecondFactor && <Text size="sm">{texts.ownFirst}</Text>}
      {isOwner && person.hasSecondFactor && (
        <Form
          action={isDemanded ? texts.change : texts.demand}
          isPending={demand.isPending}
          isDisabled={graceDays === null || graceDays === days}
          error={demand.error}
          onSubmit={() => demand.mutate(undefined, refresh)}
        >
          <NumberInput
            label={texts.days}
            description={texts.daysAdvice}
            min={0}
            max={MAX_DAYS}
            allowDecimal={false}
            allowNegative={false}
            value={typed}
            onChange={setTyped}
            maw={280}
            hideControls
          />
        </Form>
      )}
    </Section>
  );
}
