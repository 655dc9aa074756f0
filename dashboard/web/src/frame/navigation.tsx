import { NavLink, type NavLinkProps, Stack } from '@mantine/core';
import { IconBuilding, IconHistory, IconKey, IconMessages, IconWebhook } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';
import { useTexts } from '../i18n/locale';

/** A link of the navigation. The router sets `active`. */
const PageLink = createLink((props: NavLinkProps & ComponentPropsWithRef<'a'>) => <NavLink {...props} />);

export function Navigation({ slug }: { slug: string }) {
  const { nav } = useTexts();
  const pages = [
    { to: '/w/$slug/settings/api-keys', label: nav.apiKeys, Icon: IconKey },
    { to: '/w/$slug/settings/webhooks', label: nav.webhooks, Icon: IconWebhook },
    { to: '/w/$slug/settings/channels', label: nav.channels, Icon: IconMessages },
    { to: '/w/$slug/settings/audit', label: nav.audit, Icon: IconHistory },
    { to: '/w/$slug/settings/workspace', label: nav.workspace, Icon: IconBuilding },
  ] as const;
  return (
    <Stack gap={2}>
      {pages.map(({ to, label, Icon }) => (
        <PageLink
          key={to}
          to={to}
          params={{ slug }}
          activeProps={{ active: true }}
          label={label}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
        />
      ))}
    </Stack>
  );
}
