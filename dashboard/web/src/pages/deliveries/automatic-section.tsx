import { Button, Group, Text } from '@mantine/core';
import { useRef } from 'react';
import type { AutomaticRecovery, Endpoint } from '../../api/types';
import { useMayManage } from '../../api/workspace';
import { AutomaticOutlook } from '../../common/automatic/automatic-outlook';
import { AUTOMATIC_TEXTS } from '../../common/automatic/automatic-texts';
import { useAutomatic } from '../../common/automatic/use-automatic';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { Section } from '../../common/section';
import { useLocale } from '../../i18n/locale';

const REFRESH_MS = 2_000;

/**
 * Shows how an endpoint is recovered automatically and when it is tried next, with a button that ends it. For
 * a failing endpoint without automatic recovery, it has a button that turns it on.
 */
export function AutomaticSection({ endpoint }: { endpoint: Endpoint }) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const mayManage = useMayManage();
  const { isOffered, recovery, turnOn, cancel } = useAutomatic(endpoint, REFRESH_MS);
  const outlook = useRef<HTMLParagraphElement>(null);
  // A pressed button disappears, so the focus moves to the text above it.
  const after = { onSuccess: () => outlook.current?.focus({ preventScroll: true }) };
  if (!isOffered && (!endpoint.automaticRecovery || (recovery === null && !endpoint.active))) return null;
  return (
    <Section title={automatic.title}>
      <div>
        <Text size="sm" role="status" tabIndex={-1} ref={outlook}>
          {isOffered ? automatic.offer : <AutomaticOutlook endpoint={endpoint} recovery={recovery} />}
        </Text>
        {recovery && <Course recovery={recovery} />}
      </div>
      {mayManage && (isOffered || recovery) && (
        <Group>
          {recovery ? (
            <Button
              size="compact-sm"
              variant="default"
              loading={cancel.isPending}
              onClick={() => cancel.mutate(undefined, after)}
            >
              {recovery.state === 'stopped' ? automatic.dismiss : automatic.cancel}
            </Button>
          ) : (
            <Button
              size="compact-sm"
              loading={turnOn.isPending}
              onClick={() => turnOn.mutate(undefined, after)}
            >
              {automatic.turnOn}
            </Button>
          )}
        </Group>
      )}
      <ErrorNotice error={turnOn.error ?? cancel.error} />
    </Section>
  );
}

/** Shows since when events are missing, until when the endpoint is tried, and the number of rounds. */
function Course({
  recovery: { since, probesUntil, rounds },
}: {
  recovery: NonNullable<AutomaticRecovery['data']>;
}) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  return (
    <Text size="sm" c="dimmed" component="div">
      {automatic.since} <Moment at={since} isExact />
      {probesUntil && (
        <div>
          {automatic.until} <Moment at={probesUntil} mayBeAhead isExact />
        </div>
      )}
      {rounds > 0 && <div>{automatic.rounds(rounds)}</div>}
    </Text>
  );
}
