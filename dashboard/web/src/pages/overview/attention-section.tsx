import { Anchor, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FirstPage } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { useNow } from '../../common/use-now';
import { MAX_SHOWN, useOpenAlerts } from '../../frame/alerts/use-open-alerts';
import { useFormats, useTexts } from '../../i18n/locale';
import { boundedNumber } from './bounded-number';
import classes from './overview.module.css';

interface Matter {
  key: string;
  text: string;
  link: ReactNode;
}

/**
 * Lists failures, each with a link to the page where a person can fix it, or says that there are none. Leaves
 * out endpoints about which the page shows an alert.
 */
export function AttentionSection({ page: { managed, lostReplies } }: { page: FirstPage }) {
  const texts = useTexts();
  const formats = useFormats();
  const now = useNow();
  const { id, slug } = useWorkspace();
  const alerts = useOpenAlerts(id, managed !== null).slice(0, MAX_SHOWN);
  const { channels = [], endpoints: all = [], webhooks } = managed ?? {};
  const endpoints = all.filter((endpoint) => !alerts.some(({ subjectId }) => subjectId === endpoint.id));
  const matters: Matter[] = [
    ...channels
      .filter(({ status }) => status === 'REAUTH_REQUIRED')
      .map(({ channel }) => ({
        key: channel,
        text: texts.overview.needsCredentials(CHANNEL_LABELS[channel]),
        link: (
          <Link to="/w/$slug/settings/channels" params={{ slug }}>
            {texts.overview.toChannels}
          </Link>
        ),
      })),
    ...endpoints
      .filter(({ deactivation }) => deactivation)
      .map(({ id, name, url, deactivation }) => ({
        key: id,
        text: `${name ?? url}: ${texts.webhooks.stopped(formats.past(deactivation!.at, now))}. ${texts.webhooks.stoppedFor[deactivation!.reason]}`,
        link: <EndpointLink id={id} />,
      })),
    ...endpoints
      .filter(({ active, failingSince }) => active && failingSince)
      .map(({ id, name, url, failingSince }) => ({
        key: id,
        text: texts.overview.endpointFails(name ?? url, formats.past(failingSince!, now)),
        link: <EndpointLink id={id} />,
      })),
  ];
  if (lostReplies > 0) {
    matters.push({
      key: 'lost',
      text: texts.overview.lostReplies(lostReplies, boundedNumber(lostReplies, formats.number)),
      link: (
        <Link to="/w/$slug/inbox" params={{ slug }} search={{ view: 'lost' }}>
          {texts.overview.toLost}
        </Link>
      ),
    });
  }
  if (webhooks && webhooks.exhausted > 0) {
    matters.push({
      key: 'exhausted',
      text: texts.overview.givenUp(webhooks.exhausted, boundedNumber(webhooks.exhausted, formats.number)),
      link: (
        <Link to="/w/$slug/settings/webhooks" params={{ slug }}>
          {texts.overview.toWebhooks}
        </Link>
      ),
    });
  }
  if (matters.length === 0) {
    // Without any channel or endpoint, nothing can fail.
    if (channels.length + all.length === 0 || alerts.length > 0) return null;
    return (
      <div className={classes.fine} role="status">
        <IconCircleCheck size={18} aria-hidden />
        <Text size="sm">{texts.overview.fine}</Text>
      </div>
    );
  }
  return (
    <section className={classes.matters} aria-label={texts.overview.attention}>
      {matters.map(({ key, text, link }) => (
        <div key={key} className={classes.matter}>
          <IconAlertTriangle size={18} aria-hidden />
          <Text size="sm" className="breakable">
            {text}
          </Text>
          <Anchor component="span" size="sm" fw={500} className={classes.matterLink}>
            {link}
          </Anchor>
        </div>
      ))}
    </section>
  );
}

function EndpointLink({ id }: { id: string }) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  return (
    <Link to="/w/$slug/settings/webhooks/$endpointId" params={{ slug, endpointId: id }}>
      {texts.overview.toEndpoint}
    </Link>
  );
}
