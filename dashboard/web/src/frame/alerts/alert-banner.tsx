import { Alert, Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OpenAlert } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { useFormats, useLocale } from '../../i18n/locale';
import { ALERT_TEXTS } from './alert-texts';
import { useOpenAlerts } from './use-open-alerts';

/** Number of alerts that the banner shows in full. */
const SHOWN = 3;

/** Shows the newest open alerts of the workspace, each with a link to the page that mends it. */
export default function AlertBanner() {
  const { id } = useWorkspace();
  const alerts = useOpenAlerts(id);
  const texts = ALERT_TEXTS[useLocale()];
  return (
    <>
      {alerts.slice(0, SHOWN).map((alert) => (
        <OneAlert key={alert.id} alert={alert} />
      ))}
      {alerts.length > SHOWN && (
        <Text size="sm" c="dimmed">
          {texts.more(alerts.length - SHOWN)}
        </Text>
      )}
    </>
  );
}

function OneAlert({ alert: { kind, subjectType, subjectId, openedAt } }: { alert: OpenAlert }) {
  const { slug } = useWorkspace();
  const { title, advice, wayOut } = ALERT_TEXTS[useLocale()].kinds[kind];
  const formats = useFormats();
  return (
    <Alert color={kind === 'RECOVERY_FINISHED' ? 'green' : 'yellow'} title={title}>
      {advice} {formats.minute(openedAt)}.{' '}
      <Anchor
        inherit
        c="inherit"
        td="underline"
        renderRoot={(props) =>
          subjectType === 'webhook_endpoint' ? (
            <Link
              {...props}
              to="/w/$slug/settings/webhooks/$endpointId"
              params={{ slug, endpointId: subjectId }}
            />
          ) : (
            <Link {...props} to={PAGES[subjectType]} params={{ slug }} />
          )
        }
      >
        {wayOut}
      </Anchor>
    </Alert>
  );
}

const PAGES = {
  channel_connection: '/w/$slug/settings/channels',
  api_key: '/w/$slug/settings/api-keys',
  workspace: '/w/$slug/settings/workspace',
  message: '/w/$slug/inbox',
} as const;
