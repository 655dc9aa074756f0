import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { api, toQuery } from '../../api/client';
import type { Contact, ContactConversation, Page } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';

const PAGE = 20;

export function useContact(contactId: string) {
  return useRead<Contact>(`contacts/${contactId}`);
}

/** Returns a function that reads a contact again and stores it in the cache, from which the page shows it. */
export function useFreshContact(contactId: string): () => Promise<Contact> {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  return async () => {
    const contact = await api.get<Contact>(`/workspaces/${id}/contacts/${contactId}`);
    queries.setQueryData(['workspaces', id, `contacts/${contactId}`, {}], contact);
    return contact;
  };
}

/** Reads a contact's conversations page by page, the latest activity first. */
export function useContactConversations(contactId: string) {
  const { id } = useWorkspace();
  return useInfiniteQuery({
    queryKey: ['workspaces', id, 'contacts', contactId, 'conversations'],
    queryFn: ({ pageParam, signal }) =>
      api.get<Page<ContactConversation>>(
        `/workspaces/${id}/contacts/${contactId}/conversations${toQuery({ limit: PAGE, cursor: pageParam })}`,
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}
