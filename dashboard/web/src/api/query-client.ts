import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';
import { sessionQuery } from './session';
import type { ReasonCode } from './types';

/** One retry at once: `AwayNotice` says when the service stays away. */
const MAX_RETRIES = 1;
const RETRY_DELAY_MS = 500;
/** Time in which a refused act's error stays to be read, before the page offers less. */
const READING_MS = 8_000;
/**
 * Reasons of refusals after which the session is read again, because the person's rights may have changed.
 */
const REASONS_OF_SESSION: ReasonCode[] = ['second_factor_demanded', 'role_lacks_permission', 'only_owner'];

// Changes of one moment are then shown together, in the next frame. By itself the library waits for a timer,
// and renders for each query apart.
notifyManager.setScheduler(queueMicrotask);

/**
 * Makes the client that reads and caches answers.
 * @param onSignedOut is called when the server no longer knows the session
 */
export function makeQueryClient(onSignedOut: () => void): QueryClient {
  const readSession = () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  const onError = (error: unknown, isAct: boolean) => {
    if (!(error instanceof ApiError)) return;
    if (error.status === 401) onSignedOut();
    if (!concernsSession(error)) return;
    if (isAct && error.reason.reason !== 'second_factor_demanded') setTimeout(readSession, READING_MS);
    else readSession();
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => onError(error, false) }),
    mutationCache: new MutationCache({ onError: (error) => onError(error, true) }),
    defaultOptions: {
      // The browser's opinion of the network is often wrong: a request shows the truth.
      queries: {
        networkMode: 'always',
        retry: (count, error) => count < MAX_RETRIES && mayPass(error),
        retryDelay: RETRY_DELAY_MS,
        staleTime: 2_000,
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}

/** Reports whether the person's workspaces or role may have changed since the session was read. */
function concernsSession({ reason: { reason, values } }: ApiError): boolean {
  if (reason === 'not_found') return values?.['thing'] === 'Workspace';
  return reason !== undefined && REASONS_OF_SESSION.includes(reason);
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}
