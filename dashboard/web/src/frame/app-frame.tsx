import { Burger, Container, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useParams, useRouter, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useSession } from '../api/session';
import { useTexts } from '../i18n/locale';
import { AccountMenu } from './account-menu';
import { pageOf } from './agent-pages';
import classes from './app-frame.module.css';
import { Brand } from './brand';
import { firstWorkspace } from './last-workspace';
import { Navigation } from './navigation';
import { useDropRefusal } from './use-drop-refusal';
import { usePushRenewal } from './use-push-renewal';
import { usePersonalSettings } from './use-personal-settings';
import { WorkspaceMenu } from './workspace-menu';

const AlertMark = lazy(() => import('./alerts/alert-mark'));

export function AppFrame() {
  const texts = useTexts();
  const session = useSession();
  usePersonalSettings(session.person);
  usePushRenewal(session.person);
  useDropRefusal();
  const slug = useParams({ strict: false, select: (params) => params.slug });
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const isInbox = useRouterState({ select: ({ location }) => pageOf(location.pathname) === 'inbox' });
  const content = useFocusAfterNavigation(close);
  // Outside any workspace, the navigation shows the person's only workspace or the one visited last.
  const workspace =
    slug === undefined
      ? firstWorkspace(session.workspaces)
      : session.workspaces.find((one) => one.slug === slug);

  return (
    <div className={classes.frame} data-page={isInbox ? 'whole' : undefined}>
      <header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={toggle}
          size="sm"
          aria-label={texts.frame.navigation}
          aria-expanded={isOpen}
        />
        <Brand />
        {workspace && (
          <Text size="sm" c="dimmed" truncate>
            {workspace.name}
          </Text>
        )}
        {workspace && workspace.role !== 'AGENT' && (
          <Suspense>
            <AlertMark workspace={workspace} isLink />
          </Suspense>
        )}
      </header>
      <nav className={classes.navbar} data-open={isOpen} aria-label={texts.frame.navigation}>
        <Group justify="space-between" className={classes.brand}>
          <Link to="/" className={classes.home}>
            <Brand />
          </Link>
          <Burger
            opened
            hiddenFrom="sm"
            onClick={close}
            size="sm"
            aria-label={texts.common.close}
            aria-expanded={isOpen}
          />
        </Group>
        <WorkspaceMenu workspaces={session.workspaces} current={workspace} />
        <div className={classes.pages}>{workspace && <Navigation workspace={workspace} />}</div>
        <AccountMenu person={session.person} />
      </nav>
      <main id="content" tabIndex={-1} ref={content} className={classes.main}>
        {isInbox ? (
          <Outlet />
        ) : (
          <Container size="68rem" px={0} pb="xl">
            <Outlet />
          </Container>
        )}
      </main>
    </div>
  );
}

/** Moves the focus to the content after a navigation, except from one page of the inbox to another. */
function useFocusAfterNavigation(onNavigate: () => void) {
  const content = useRef<HTMLElement>(null);
  const router = useRouter();
  // Subscribes to the router, because a hook would render the frame for each opened conversation.
  useEffect(
    () =>
      router.subscribe('onResolved', ({ fromLocation, toLocation, pathChanged }) => {
        if (!fromLocation || !pathChanged) return;
        const isWithinInbox = [fromLocation, toLocation].every(
          ({ pathname }) => pageOf(pathname) === 'inbox',
        );
        if (!isWithinInbox) content.current?.focus({ preventScroll: true });
        onNavigate();
      }),
    [router, onNavigate],
  );
  return content;
}
