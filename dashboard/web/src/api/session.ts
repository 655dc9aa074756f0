import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api } from './client';
import type { Session } from './types';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api.get<Session>('/session', signal),
  staleTime: 30_000,
  refetchInterval: 60_000,
});

/** Returns the session of the person who is logged in. Suspends while the session is loaded. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}
