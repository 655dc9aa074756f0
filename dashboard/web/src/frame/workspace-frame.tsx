import { Alert, Anchor, Button, Group, Stack } from '@mantine/core';
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { useSession } from '../api/session';
import type { Workspace } from '../api/types';
import { useWorkspace, WorkspaceProvider } from '../api/workspace';
import { PageLayout } from '../common/page';
import { useFormats, useTexts } from '../i18n/locale';
import { AGENT_PAGES, pageOf } from './agent-pages';
import classes from './app-frame.module.css';
import { rememberWorkspace } from './last-workspace';
import { NotFoundPage, TextPage, UnreachablePage } from './page-states';

const AlertBanner = lazy(() => import('./alerts/alert-banner'));

/** Settings pages that the role AGENT may read but not change. */
const SETTINGS_TO_READ = ['workspace', 'agents'];

export function WorkspaceFrame() {
  const { slug } = useParams({ from: '/inside/w/$slug' });
  const page = useRouterState({ select: ({ location }) => pageOf(location.pathname) });
  const { workspaces, unreachableWorkspaces } = useSession();
  const workspace = workspaces.find((one) => one.slug === slug);
  useEffect(() => {
    if (workspace) rememberWorkspace(workspace.slug);
  }, [workspace]);
  if (!workspace) return unreachableWorkspaces > 0 ? <UnreachablePage /> : <NotFoundPage />;
  return (
    <WorkspaceProvider value={workspace} key={workspace.id}>
      <Stack gap={page === 'inbox' ? 0 : 'md'} className={page === 'inbox' ? classes.whole : undefined}>
        {workspace.isLocked ? (
          <LockedPage workspace={workspace} />
        ) : (
          <>
            <Notices workspace={workspace} page={page} />
            {workspace.role === 'AGENT' && !AGENT_PAGES.includes(page) ? <ManagersPage /> : <Outlet />}
          </>
        )}
      </Stack>
    </WorkspaceProvider>
  );
}

/** Says that the workspace requires a second factor, which the person has not turned on. */
function LockedPage({ workspace }: { workspace: Workspace }) {
  const { notices } = useTexts();
  return (
    <TextPage title={notices.locked(workspace.name)} text={notices.lockedAdvice}>
      <Button component={Link} to="/account">
        {notices.toAccount}
      </Button>
    </TextPage>
  );
}

function ManagersPage() {
  const { slug } = useWorkspace();
  const { nav, notices } = useTexts();
  return (
    <PageLayout title={notices.managersAlone}>
      <Group>
        <Button renderRoot={(props) => <Link {...props} to="/w/$slug/inbox" params={{ slug }} />}>
          {nav.inbox}
        </Button>
      </Group>
    </PageLayout>
  );
}

/** Shows alerts, such as about a suspension. In the inbox, the reply form shows some of these instead. */
function Notices({ workspace, page }: { workspace: Workspace; page: string }) {
  const { notices } = useTexts();
  const formats = useFormats();
  return (
    <>
      {workspace.isSuspended && page !== 'inbox' && (
        <Alert color="red" title={notices.suspended}>
          {notices.suspendedAdvice}
        </Alert>
      )}
      {workspace.isTrialExpired && page !== 'inbox' && (
        <Alert color="yellow" title={notices.trialExpired(formats.day(workspace.trialEndsAt!))}>
          {notices.trialExpiredAdvice}
        </Alert>
      )}
      {workspace.lockedAt && (
        <Alert color="yellow" title={notices.lockedFrom(formats.minute(workspace.lockedAt))}>
          {notices.lockedFromAdvice}{' '}
          <Anchor component={Link} to="/account" inherit c="inherit" td="underline">
            {notices.toAccount}
          </Anchor>
        </Alert>
      )}
      {workspace.role !== 'AGENT' && page !== 'inbox' && (
        <Suspense>
          <AlertBanner isOverview={page === 'overview'} />
        </Suspense>
      )}
      {workspace.role === 'AGENT' && SETTINGS_TO_READ.includes(page) && (
        <Alert color="gray">{notices.readOnly}</Alert>
      )}
    </>
  );
}
