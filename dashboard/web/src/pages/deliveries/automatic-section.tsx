import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { AutomaticRecovery, Endpoint } from '../../api/types';
import { useChange, useMayManage, useRead } from '../../api/workspace';
import { ErrorNotice } from '../../common/error-notice';
import { Moment } from '../../common/moment';
import { useLocale } from '../../i18n/locale';
import { AUTOMATIC_TEXTS } from '../webhooks/automatic-texts';

const REFRESH_MS = 2_000;

/**
 * Shows how an endpoint is recovered automatically and when it is tried next, with a button that ends it. For
 * a failing endpoint without automatic recovery, it has a button that turns it on.
 */
export function AutomaticSection({ endpoint }: { endpoint: Endpoint }) {
  const { automaticRecovery, failingSince, deactivation } = endpoint;
  if (automaticRecovery) return <State endpoint={endpoint} />;
  const isOffered = endpoint.active ? failingSince !== null : deactivation?.reason === 'failing';
  return isOffered ? <Offer endpoint={endpoint} /> : null;
}

function State({ endpoint }: { endpoint: Endpoint }) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const path = `webhook-endpoints/${endpoint.id}/automatic-recovery`;
  const state = useRead<AutomaticRecovery>(path, {}, { refreshMs: REFRESH_MS });
  const cancel = useChange((at) => api.delete(`${at}/${path}`), automatic.cancelled);
  const mayManage = useMayManage();
  const recovery = state.data?.data;
  if (!recovery) return null;
  const { since, probes, nextProbeAt, probesUntil, rounds, stopReason } = recovery;
  const words = automatic;
  return (
    <Section>
      <Text size="sm" role="status">
        {stopReason ? words.stopped[stopReason] : words.state[endpoint.active ? recovery.state : 'inactive']}
      </Text>
      <Text size="sm">
        {words.since} <Moment at={since} isExact />
      </Text>
      {nextProbeAt && (
        <Text size="sm">
          {words.nextProbe(probes)} <Moment at={nextProbeAt} mayBeAhead isExact />
        </Text>
      )}
      {probesUntil && (
        <Text size="sm" c="dimmed">
          {words.until} <Moment at={probesUntil} mayBeAhead isExact />
        </Text>
      )}
      {rounds > 0 && (
        <Text size="sm" c="dimmed">
          {words.rounds(rounds)}
        </Text>
      )}
      {mayManage && (
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            {recovery.state === 'stopped' ? words.dismiss : words.cancel}
          </Button>
        </Group>
      )}
      <ErrorNotice error={cancel.error} />
    </Section>
  );
}

function Offer({ endpoint }: { endpoint: Endpoint }) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const mayManage = useMayManage();
  const turnOn = useChange(
    (at) => api.patch(`${at}/webhook-endpoints/${endpoint.id}`, { automaticRecovery: true }),
    automatic.turnedOn,
  );
  if (!mayManage) return null;
  return (
    <Section>
      <Text size="sm">{automatic.offer}</Text>
      <Group>
        <Button size="compact-sm" loading={turnOn.isPending} onClick={() => turnOn.mutate()}>
          {automatic.turnOn}
        </Button>
      </Group>
      <ErrorNotice error={turnOn.error} />
    </Section>
  );
}

function Section({ children }: { children: ReactNode }) {
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  return (
    <Card withBorder component="section" aria-label={automatic.title}>
      <Stack gap={4}>
        <Title order={2} size="h4">
          {automatic.title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}
