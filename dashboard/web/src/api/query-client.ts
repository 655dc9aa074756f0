import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';
import { sessionQuery } from './session';

/** One retry at once: `AwayNotice` says when the service stays away. */
const MAX_RETRIES = 1;
const RETRY_DELAY_MS = 500;

/**
 * Makes the client that reads and caches answers.
 * @param onSignedOut is called when the server no longer knows the session
 */
export function makeQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (!(error instanceof ApiError)) return;
    if (error.status === 401) onSignedOut();
    // The session tells which workspaces are locked.
    if (error.reason.reason === 'second_factor_demanded')
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
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

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}
