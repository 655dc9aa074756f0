import { Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { api, toQuery } from '../../../api/client';
import type { MessagesPart } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import classes from './found-message.module.css';
import { useFreshness, usePollMs } from '../live/live-state';
import { messagesKey } from '../inbox-cache';
import { MARKS_MS } from '../use-inbox';

interface PagePosition {
  around?: string;
  cursor?: string;
  after?: string;
}

const route = getRouteApi('/inside/w/$slug/inbox');

/** Returns the id of the message that the page's address names, if any. */
export function useFoundId(): string | undefined {
  return route.useSearch().message;
}

/** Reads the messages before and after one message, newest first. */
export function useMessagesAround(conversationId: string, messageId: string | undefined) {
  const { id } = useWorkspace();
  const pollMs = usePollMs(MARKS_MS);
  const initialPageParam: PagePosition = { around: messageId };
  const pages = useInfiniteQuery({
    ...useFreshness(MARKS_MS),
    queryKey: [...messagesKey(id, conversationId), 'around', messageId],
    queryFn: ({ pageParam, signal }) =>
      api.get<MessagesPart>(
        `/workspaces/${id}/conversations/${conversationId}/messages${toQuery(pageParam)}`,
        signal,
      ),
    initialPageParam,
    getNextPageParam: ({ nextCursor }): PagePosition | undefined =>
      nextCursor ? { cursor: nextCursor } : undefined,
    getPreviousPageParam: ({ previousCursor }): PagePosition | undefined =>
      previousCursor ? { after: previousCursor } : undefined,
    refetchInterval: ({ state }) => pollMs * (state.data?.pages.length ?? 1),
    enabled: messageId !== undefined,
  });
  const items = useMemo(() => {
    const loaded = pages.data?.pages.flatMap(({ data }) => data);
    return loaded && [...new Map(loaded.map((item) => [item.id, item])).values()];
  }, [pages.data]);
  return { ...pages, items };
}

/** Marks the message that a search has found, and scrolls it to the middle when it appears. */
export function Found({ isFound, children }: { isFound: boolean; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFound) ref.current?.firstElementChild?.scrollIntoView({ block: 'center' });
  }, [isFound]);
  if (!isFound) return children;
  return (
    <div ref={ref} className={classes.found}>
      {children}
    </div>
  );
}

/** Shows buttons that load newer or the newest messages. Sending a message shows the newest. */
export function NewerMessages({
  pages,
  outgoing,
}: {
  pages: ReturnType<typeof useMessagesAround>;
  outgoing: number;
}) {
  const { inbox } = useTexts();
  const navigate = useNavigate();
  const atStart = useRef(outgoing);
  const toNewest = () => void navigate({ to: '.', search: ({ message: _, ...rest }) => rest, replace: true });
  useEffect(() => {
    if (outgoing > atStart.current) toNewest();
    atStart.current = outgoing;
  });
  if (!pages.hasPreviousPage) return null;
  return (
    <Group justify="center" gap="xs" p="xs">
      <Button
        size="xs"
        variant="default"
        loading={pages.isFetchingPreviousPage}
        onClick={() => void pages.fetchPreviousPage()}
      >
        {inbox.search.newer}
      </Button>
      <Button size="xs" variant="subtle" onClick={toNewest}>
        {inbox.search.newest}
      </Button>
    </Group>
  );
}
