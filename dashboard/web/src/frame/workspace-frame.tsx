import { Alert, Stack } from '@mantine/core';
import { Outlet, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../api/session';
import type { Workspace } from '../api/types';
import { WorkspaceProvider } from '../api/workspace';
import { useFormats, useTexts } from '../i18n/locale';
import { rememberWorkspace } from './last-workspace';
import { NotFoundPage } from './page-states';

/** Frames the pages of one workspace, which must be one of the person's. */
export function WorkspaceFrame() {
  const { slug } = useParams({ from: '/inside/w/$slug/settings' });
  const workspace = useSession().workspaces.find((one) => one.slug === slug);
  useEffect(() => {
    if (workspace) rememberWorkspace(workspace.slug);
  }, [workspace]);
  if (!workspace) return <NotFoundPage />;
  return (
    <WorkspaceProvider value={workspace} key={workspace.id}>
      <Stack gap="md">
        <Notices workspace={workspace} />
        <Outlet />
      </Stack>
    </WorkspaceProvider>
  );
}

/** Shows what limits the workspace, or the person in it, such as a suspension. */
function Notices({ workspace }: { workspace: Workspace }) {
  const { notices } = useTexts();
  const formats = useFormats();
  return (
    <>
      {workspace.isSuspended && (
        <Alert color="red" title={notices.suspended}>
          {notices.suspendedAdvice}
        </Alert>
      )}
      {workspace.isTrialExpired && (
        <Alert color="yellow" title={notices.trialExpired(formats.day(workspace.trialEndsAt!))}>
          {notices.trialExpiredAdvice}
        </Alert>
      )}
      {workspace.role === 'AGENT' && <Alert color="gray">{notices.readOnly}</Alert>}
    </>
  );
}
