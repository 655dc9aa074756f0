import { AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSession } from '../api/session';
import { useTexts } from '../i18n/locale';
import { AccountMenu } from './account-menu';
import { firstWorkspace } from './last-workspace';
import { Navigation } from './navigation';
import { usePersonalSettings } from './use-personal-settings';
import { WorkspaceMenu } from './workspace-menu';

/** Frames every page after the login with the workspaces, the navigation and the person. */
export function AppFrame() {
  const texts = useTexts();
  const session = useSession();
  usePersonalSettings(session.person);
  const { slug } = useParams({ strict: false });
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const content = useFocusAfterNavigation(close);
  // Pages outside any workspace keep the navigation of the last one.
  const workspace =
    slug === undefined
      ? firstWorkspace(session.workspaces)
      : session.workspaces.find((one) => one.slug === slug);

  return (
    <AppShell
      header={{ height: 56 }}
      padding={{ base: 'sm', sm: 'lg' }}
      {...(workspace && { navbar: { width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } } })}
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            {workspace && (
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={texts.frame.navigation}
                aria-expanded={isOpen}
              />
            )}
            <Text component={Link} to="/" fw={700} visibleFrom="sm" c="inherit" td="none">
              {texts.frame.product}
            </Text>
            <WorkspaceMenu workspaces={session.workspaces} current={workspace} />
          </Group>
          <AccountMenu person={session.person} />
        </Group>
      </AppShell.Header>
      {workspace && (
        <AppShell.Navbar p="xs" aria-label={texts.frame.navigation}>
          <Navigation slug={workspace.slug} />
        </AppShell.Navbar>
      )}
      <AppShell.Main id="content" tabIndex={-1} ref={content}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

/** Moves the focus to the content of a new page, for keyboards and screen readers. */
function useFocusAfterNavigation(onNavigate: () => void) {
  const content = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== path) {
      content.current?.focus({ preventScroll: true });
      onNavigate();
    }
    shown.current = path;
  }, [path, onNavigate]);
  return content;
}
