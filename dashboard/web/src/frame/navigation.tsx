import { NavLink, type NavLinkProps, Text } from '@mantine/core';
import {
  IconAddressBook,
  IconBook,
  IconBuildingStore,
  IconExternalLink,
  IconGauge,
  IconHistory,
  IconInbox,
  IconKey,
  IconLayoutDashboard,
  IconMessage2Bolt,
  IconMessages,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import { type ComponentPropsWithRef, lazy, Suspense, useId } from 'react';
import { useSession } from '../api/session';
import type { Workspace } from '../api/types';
import { useTexts } from '../i18n/locale';
import { AGENT_PAGES, pageOf } from './agent-pages';
import classes from './app-frame.module.css';

const AlertMark = lazy(() => import('./alerts/alert-mark'));

const PageLink = createLink((props: NavLinkProps & ComponentPropsWithRef<'a'>) => (
  <NavLink className={classes.link} {...props} />
));

export function Navigation({ workspace }: { workspace: Workspace }) {
  const { slug, role } = workspace;
  const { nav } = useTexts();
  const { publicUrl } = useSession();
  const id = useId();
  const groups = [
    {
      name: null,
      pages: [
        { to: '/w/$slug/inbox', label: nav.inbox, Icon: IconInbox },
        { to: '/w/$slug/contacts', label: nav.contacts, Icon: IconAddressBook },
        { to: '/w/$slug/settings/overview', label: nav.overview, Icon: IconLayoutDashboard },
        { to: '/w/$slug/settings/channels', label: nav.channels, Icon: IconMessages },
      ],
    },
    {
      name: nav.developers,
      pages: [
        { to: '/w/$slug/settings/api-keys', label: nav.apiKeys, Icon: IconKey },
        { to: '/w/$slug/settings/webhooks', label: nav.webhooks, Icon: IconWebhook },
        { to: '/w/$slug/settings/diagnostics', label: nav.diagnostics, Icon: IconGauge },
      ],
    },
    {
      name: nav.settings,
      pages: [
        { to: '/w/$slug/settings/workspace', label: nav.workspace, Icon: IconBuildingStore },
        { to: '/w/$slug/settings/agents', label: nav.agents, Icon: IconUsers },
        { to: '/w/$slug/settings/saved-replies', label: nav.savedReplies, Icon: IconMessage2Bolt },
        { to: '/w/$slug/settings/audit', label: nav.audit, Icon: IconHistory },
      ],
    },
  ] as const;
  const shown = groups
    .map(({ name, pages }) => ({
      name,
      pages: pages.filter(({ to }) => role !== 'AGENT' || AGENT_PAGES.includes(pageOf(to))),
    }))
    .filter(({ pages }) => pages.length > 0);
  return (
    <>
      {shown.map(({ name, pages }) => (
        <div
          key={name}
          className={classes.group}
          {...(name && { role: 'group', 'aria-labelledby': `${id}${name}` })}
        >
          {name && (
            <Text className={classes.groupName} id={`${id}${name}`}>
              {name}
            </Text>
          )}
          {pages.map(({ to, label, Icon }) => (
            <PageLink
              key={to}
              to={to}
              params={{ slug }}
              activeProps={{ active: true }}
              label={label}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              rightSection={
                Icon === IconLayoutDashboard &&
                role !== 'AGENT' && (
                  <Suspense>
                    <AlertMark workspace={workspace} />
                  </Suspense>
                )
              }
            />
          ))}
        </div>
      ))}
      <div className={classes.group}>
        <NavLink
          className={classes.link}
          href={`${publicUrl}/docs`}
          target="_blank"
          rel="noopener"
          label={nav.docs}
          leftSection={<IconBook size={18} stroke={1.6} aria-hidden />}
          rightSection={<IconExternalLink size={14} stroke={1.6} aria-hidden />}
        />
      </div>
    </>
  );
}
