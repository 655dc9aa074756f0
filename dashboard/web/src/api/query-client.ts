import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';
import { sessionQuery } from './session';
import type { ReasonCode } from './types';

/** Times that a failed read is repeated. One is enough, because `AwayNotice` says that the server is away. */
const MAX_RETRIES = 1;
const RETRY_DELAY_MS = 500;
/** Milliseconds until the session is read again after a refused change, so that its error can be read. */
const READING_MS = 8_000;
/** Reasons of refused requests that suggest new rights of the person, so the session is read again. */
const REASONS_OF_SESSION: ReasonCode[] = ['second_factor_demanded', 'role_lacks_permission', 'only_owner'];

// Results that arrive at the same time are rendered together, in the next frame. By default the library waits
// for a timer and renders for each query separately.
notifyManager.setScheduler(queueMicrotask);

/** Makes the client that reads and caches answers. Calls `onSignedOut` whenever the server answers 401. */
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
      // The browser may wrongly report that it is offline, so every request is tried.
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

/** Reports whether an error suggests that the person's workspaces or role have changed. */
function concernsSession({ reason: { reason, values } }: ApiError): boolean {
  if (reason === 'not_found') return values?.['thing'] === 'Workspace';
  return reason !== undefined && REASONS_OF_SESSION.includes(reason);
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}
