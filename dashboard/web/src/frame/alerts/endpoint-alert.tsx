import { Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentProps, useEffect, useRef } from 'react';
import type { Endpoint, OpenAlert } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { AutomaticOutlook } from '../../common/automatic/automatic-outlook';
import { AUTOMATIC_TEXTS } from '../../common/automatic/automatic-texts';
import { useAutomatic } from '../../common/automatic/use-automatic';
import { ErrorNotice } from '../../common/error-notice';
import { useLocale, useTexts } from '../../i18n/locale';
import { AlertCard } from './alert-card';
import { REFRESH_MS } from './use-open-alerts';

/** Milliseconds between two reads of a recovery, whose first step follows soon after the press. */
const STEPS_MS = 5_000;

/** Shows an alert about an endpoint. Names the endpoint once it is read. */
export function EndpointAlert({ alert }: { alert: OpenAlert }) {
  const { id, slug } = useWorkspace();
  const queries = useQueryClient();
  const path = `webhook-endpoints/${alert.subjectId}`;
  const { data: endpoint } = useRead<Endpoint>(path, {}, { refreshMs: REFRESH_MS });
  // The endpoint may have been read before the alert was opened.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ['workspaces', id, path] }, { cancelRefetch: false });
  }, [queries, id, path, alert.id]);
  const link = (props: Partial<ComponentProps<'a'>>) => (
    <Link
      {...props}
      to="/w/$slug/settings/webhooks/$endpointId"
      params={{ slug, endpointId: alert.subjectId }}
    />
  );
  if (!endpoint) return <AlertCard alert={alert} link={link} />;
  const named = { alert, link, name: endpoint.name ?? endpoint.url };
  if (alert.kind !== 'ENDPOINT_FAILING' && alert.kind !== 'ENDPOINT_SWITCHED_OFF')
    return <AlertCard {...named} />;
  return <MissingEvents endpoint={endpoint} {...named} />;
}

/**
 * Shows an alert about an endpoint that misses events. Offers to turn automatic recovery on, and then shows
 * its next steps.
 */
function MissingEvents({
  endpoint,
  ...card
}: { endpoint: Endpoint } & Pick<ComponentProps<typeof AlertCard>, 'alert' | 'link' | 'name'>) {
  const { webhooks } = useTexts();
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const { isOffered, recovery, turnOn } = useAutomatic(endpoint, STEPS_MS);
  const outlook = useRef<HTMLParagraphElement>(null);
  // The recovery is read more often than the alerts, and its end resolves this one.
  const isOver = endpoint.automaticRecovery && recovery === null;
  const { id } = useWorkspace();
  const queries = useQueryClient();
  useEffect(() => {
    if (isOver) void queries.invalidateQueries({ queryKey: ['workspaces', id, 'alerts'] });
  }, [queries, id, isOver]);
  // The pressed button disappears, so the focus moves to the text.
  const onSuccess = () => outlook.current?.focus({ preventScroll: true });
  return (
    <AlertCard
      {...card}
      about={endpoint.deactivation ? webhooks.stoppedFor[endpoint.deactivation.reason] : undefined}
      action={
        isOffered && (
          <Button
            size="compact-sm"
            loading={turnOn.isPending}
            onClick={() => turnOn.mutate(undefined, { onSuccess })}
          >
            {automatic.turnOn}
          </Button>
        )
      }
    >
      {(isOffered || endpoint.automaticRecovery) && (
        <Text inherit tabIndex={-1} ref={outlook} mt={4} style={{ outlineOffset: 1 }}>
          {isOffered ? automatic.offer : <AutomaticOutlook endpoint={endpoint} recovery={recovery} />}
        </Text>
      )}
      <ErrorNotice error={turnOn.error} />
    </AlertCard>
  );
}
