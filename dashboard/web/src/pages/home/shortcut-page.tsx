import { Navigate } from '@tanstack/react-router';
import { useSession } from '../../api/session';
import { firstWorkspace } from '../../frame/last-workspace';
import { HomePage } from './home-page';

/** Page of `/settings/api-keys`, an address without a workspace. Redirects to the last visited workspace. */
export function ApiKeysShortcut() {
  const workspace = firstWorkspace(useSession().workspaces);
  if (!workspace) return <HomePage />;
  return <Navigate to="/w/$slug/settings/api-keys" params={{ slug: workspace.slug }} replace />;
}

/** Page of `/settings/webhooks`, an address without a workspace. Redirects to the last visited workspace. */
export function WebhooksShortcut() {
  const workspace = firstWorkspace(useSession().workspaces);
  if (!workspace) return <HomePage />;
  return <Navigate to="/w/$slug/settings/webhooks" params={{ slug: workspace.slug }} replace />;
}
