import { Anchor, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { OpenAlert } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { useLocale } from '../../i18n/locale';
import { AlertCard } from './alert-card';
import { ALERT_TEXTS } from './alert-texts';
import { EndpointAlert } from './endpoint-alert';
import { MAX_SHOWN, useOpenAlerts } from './use-open-alerts';

/**
 * Shows open alerts of the workspace, each with a link to the page that mends it: ten on the overview, and
 * one elsewhere. The page of an endpoint leaves out alerts about it, because it says the same.
 */
export default function AlertBanner({ isOverview }: { isOverview: boolean }) {
  const { id, slug } = useWorkspace();
  const { endpointId, deliveryId } = useParams({ strict: false });
  const ownPage = deliveryId === undefined ? endpointId : undefined;
  const alerts = useOpenAlerts(id).filter(({ subjectId }) => subjectId !== ownPage);
  const texts = ALERT_TEXTS[useLocale()];
  if (alerts.length === 0) return null;
  const shown = alerts.slice(0, isOverview ? MAX_SHOWN : 1);
  const hidden = alerts.length - shown.length;
  return (
    <Stack component="section" gap="xs" aria-label={texts.open(alerts.length)}>
      {shown.map((alert) => (
        <OneAlert key={alert.id} alert={alert} />
      ))}
      {hidden > 0 && (
        <Text size="sm">
          {isOverview ? (
            texts.more(hidden)
          ) : (
            <Anchor
              inherit
              renderRoot={(props) => <Link {...props} to="/w/$slug/settings/overview" params={{ slug }} />}
            >
              {texts.more(hidden)}
            </Anchor>
          )}
        </Text>
      )}
    </Stack>
  );
}

function OneAlert({ alert }: { alert: OpenAlert }) {
  const { slug } = useWorkspace();
  if (alert.subjectType === 'webhook_endpoint') return <EndpointAlert alert={alert} />;
  if (alert.subjectType === 'conversation') {
    const params = { slug, conversationId: alert.subjectId };
    return (
      <AlertCard
        alert={alert}
        link={(props) => (
          <Link {...props} to="/w/$slug/inbox/$conversationId" params={params} search={{ view: 'lost' }} />
        )}
      />
    );
  }
  const to = PAGES[alert.subjectType];
  return <AlertCard alert={alert} link={(props) => <Link {...props} to={to} params={{ slug }} />} />;
}

const PAGES = {
  channel_connection: '/w/$slug/settings/channels',
  api_key: '/w/$slug/settings/api-keys',
  workspace: '/w/$slug/settings/workspace',
} as const;
