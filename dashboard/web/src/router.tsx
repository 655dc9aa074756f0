import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { ApiError } from './api/client';
import { sessionQuery } from './api/session';
import { NotFoundPageAlone, PageFault, PagePending } from './frame/page-states';
import { RootLayout } from './frame/root-layout';

type Filters<Name extends string> = Partial<Record<Name, string>>;

function pick<Name extends string>(names: readonly Name[]) {
  return (search: Record<string, unknown>): Filters<Name> =>
    Object.fromEntries(
      names
        .filter((name) => typeof search[name] === 'string' && search[name] !== '')
        .map((name) => [name, search[name]]),
    ) as Filters<Name>;
}

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: RootLayout,
  notFoundComponent: NotFoundPageAlone,
});

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: pick(['back']),
  component: lazyRouteComponent(() => import('./pages/login/login-page'), 'LoginPage'),
});
const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./pages/login/link-page'), 'LinkPage'),
});
const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset',
  component: lazyRouteComponent(() => import('./pages/login/link-page'), 'LinkPage'),
});

/** Parent of the routes that need a login. Without a session, redirects to the login page. */
const insideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    try {
      return { session: await context.queryClient.ensureQueryData(sessionQuery) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      redirect({
        to: '/login',
        search: location.href === '/' ? {} : { back: location.href },
        throw: true,
      });
    }
  },
  component: lazyRouteComponent(() => import('./frame/app-frame'), 'AppFrame'),
});

const homeRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/home-page'), 'HomePage'),
});

/** Routes of addresses without a workspace, to which the service's documentation refers. */
const keysShortcutRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/settings/api-keys',
  component: lazyRouteComponent(() => import('./pages/home/shortcut-page'), 'ApiKeysShortcut'),
});
const webhooksShortcutRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/settings/webhooks',
  component: lazyRouteComponent(() => import('./pages/home/shortcut-page'), 'WebhooksShortcut'),
});

const accountRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account-page'), 'AccountPage'),
});

const workspaceRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/w/$slug',
  component: lazyRouteComponent(() => import('./frame/workspace-frame'), 'WorkspaceFrame'),
});

const inboxRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/inbox',
  validateSearch: pick(['view', 'agent', 'status', 'channel', 'message']),
  component: lazyRouteComponent(() => import('./pages/inbox/inbox-page'), 'InboxPage'),
});
/** Route of the inbox with an open conversation. `InboxPage`, its parent's component, reads the id. */
const conversationRoute = createRoute({ getParentRoute: () => inboxRoute, path: '/$conversationId' });

const contactsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/contacts',
  validateSearch: pick(['q', 'cursor']),
  component: lazyRouteComponent(() => import('./pages/contacts/contacts-page'), 'ContactsPage'),
});
const contactRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/contacts/$contactId',
  component: lazyRouteComponent(() => import('./pages/contacts/contact-page'), 'ContactPage'),
});

const overviewRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/overview',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page'), 'OverviewPage'),
});
const apiKeysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/api-keys',
  validateSearch: pick(['cursor']),
  component: lazyRouteComponent(() => import('./pages/api-keys/api-keys-page'), 'ApiKeysPage'),
});
const webhooksRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/webhooks',
  validateSearch: pick(['cursor']),
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks-page'), 'WebhooksPage'),
});
const endpointRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/webhooks/$endpointId',
  validateSearch: pick([
    'cursor',
    'since',
    'until',
    'event',
    'status',
    'statusCode',
    'error',
    'conversationId',
    'messageId',
    'period',
  ]),
  component: lazyRouteComponent(() => import('./pages/deliveries/endpoint-page'), 'EndpointPage'),
});
const deliveryRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/webhooks/$endpointId/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./pages/deliveries/delivery-page'), 'DeliveryPage'),
});
const channelsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/channels',
  component: lazyRouteComponent(() => import('./pages/channels/channels-page'), 'ChannelsPage'),
});
const auditRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/audit',
  validateSearch: pick(['cursor', 'action', 'actor', 'entity', 'entityId', 'since', 'until']),
  component: lazyRouteComponent(() => import('./pages/audit/audit-page'), 'AuditPage'),
});
const agentsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/agents',
  component: lazyRouteComponent(() => import('./pages/workspace/agents-page'), 'AgentsPage'),
});
const savedRepliesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/saved-replies',
  component: lazyRouteComponent(() => import('./pages/workspace/saved-replies-page'), 'SavedRepliesPage'),
});
const diagnosticsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/diagnostics',
  component: lazyRouteComponent(() => import('./pages/workspace/diagnostics-page'), 'DiagnosticsPage'),
});
const workspaceSettingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/settings/workspace',
  component: lazyRouteComponent(() => import('./pages/workspace/workspace-page'), 'WorkspacePage'),
});

const routeTree = rootRoute.addChildren([
  loginRoute,
  welcomeRoute,
  resetRoute,
  insideRoute.addChildren([
    homeRoute,
    keysShortcutRoute,
    webhooksShortcutRoute,
    accountRoute,
    workspaceRoute.addChildren([
      inboxRoute.addChildren([conversationRoute]),
      contactsRoute,
      contactRoute,
      overviewRoute,
      apiKeysRoute,
      webhooksRoute,
      endpointRoute,
      deliveryRoute,
      channelsRoute,
      auditRoute,
      workspaceSettingsRoute,
      agentsRoute,
      savedRepliesRoute,
      diagnosticsRoute,
    ]),
  ]),
]);

export function makeRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageFault,
    defaultPendingComponent: PagePending,
    scrollRestoration: true,
    // Values remain plain text. By default the router puts a text of digits in quotes.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search: Record<string, string | undefined>) => {
      const given = Object.entries(search).filter((entry): entry is [string, string] => !!entry[1]);
      const query = new URLSearchParams(given).toString();
      return query && `?${query}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
