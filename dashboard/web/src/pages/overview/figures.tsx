import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ComponentProps, ReactElement } from 'react';
import type { FirstPage } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { useNow } from '../../common/use-now';
import { useFormats, useTexts } from '../../i18n/locale';
import { boundedNumber } from './bounded-number';
import classes from './overview.module.css';

interface Figure {
  name: string;
  about: string;
  count: number;
  isFailure?: boolean;
  /** Link to the rows that the figure counts. */
  link: (props: Partial<ComponentProps<'a'>>) => ReactElement;
}

export function Figures({ page }: { page: FirstPage }) {
  const texts = useTexts();
  const formats = useFormats();
  const now = useNow();
  const { slug } = useWorkspace();
  const { openConversations, waiting, waitingMessages, lostReplies, managed } = page;
  const toInbox = (view: 'all' | 'waiting' | 'lost') => (props: object) => (
    <Link {...props} to="/w/$slug/inbox" params={{ slug }} search={{ view }} />
  );
  const toWebhooks = (props: object) => <Link {...props} to="/w/$slug/settings/webhooks" params={{ slug }} />;
  const toChannels = (props: object) => <Link {...props} to="/w/$slug/settings/channels" params={{ slug }} />;
  const longest = waiting.since === null ? null : formats.lasted(waiting.since, now);
  const { overview } = texts;
  const figures: Figure[] = [
    {
      name: overview.needsReply.name,
      about: overview.needsReply.about(longest),
      count: waiting.count,
      link: toInbox('waiting'),
    },
    { ...overview.open, count: openConversations, link: toInbox('all') },
    { ...overview.waiting, count: waitingMessages, link: toChannels },
    { ...overview.lost, count: lostReplies, isFailure: true, link: toInbox('lost') },
    ...(managed
      ? [
          { ...overview.pending, count: managed.webhooks.pending, link: toWebhooks },
          { ...overview.exhausted, count: managed.webhooks.exhausted, isFailure: true, link: toWebhooks },
        ]
      : []),
  ];
  return (
    <dl className={classes.figures}>
      {figures.map(({ name, about, count, isFailure, link }) => (
        <div key={name} className={classes.figure}>
          <Text component="dt" size="sm" fw={500}>
            <Anchor inherit c="inherit" renderRoot={link} className={classes.figureLink}>
              {name}
            </Anchor>
          </Text>
          <dd className={classes.number} data-failing={(isFailure && count > 0) || undefined}>
            {boundedNumber(count, formats.number)}
            <Text size="xs" c="dimmed" component="span">
              {about}
            </Text>
          </dd>
        </div>
      ))}
    </dl>
  );
}
