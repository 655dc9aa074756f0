import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useWorkspace } from '../../api/workspace';
import { refreshConversations, refreshInbox, refreshPresence } from './use-inbox';

/** Pause after the server has refused the stream, for example because it has too many. */
const RETRY_MS = 15_000;

/** Id of a conversation that has changed; null when any may have changed. */
type Notice = string | null;

/** Conversations in which a colleague has come, gone or begun to write. */
interface PresenceNotice {
  conversationIds: string[];
}

/**
 * Reads the inbox again as soon as the server tells of a change. All tabs share one stream, because a browser
 * opens few connections to a server. What no stream tells is read every few seconds.
 */
export function useLiveInbox(): void {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  useEffect(() => {
    const read = readInTurn(queries, id);
    return listen(id, (notice) => {
      if (notice === null || typeof notice === 'string') read(notice);
      else void refreshPresence(queries, id, notice.conversationIds);
    });
  }, [queries, id]);
}

/**
 * Makes a function that reads what has changed. Changes that come while it reads are read after that, all at
 * once.
 */
function readInTurn(queries: QueryClient, workspaceId: string): (notice: Notice) => void {
  const changed = new Set<Notice>();
  let isReading = false;
  const read = async () => {
    isReading = true;
    while (changed.size > 0) {
      const notices = [...changed];
      changed.clear();
      if (notices.includes(null)) await refreshInbox(queries, workspaceId);
      else await refreshConversations(queries, workspaceId, notices as string[]);
    }
    isReading = false;
  };
  return (notice) => {
    changed.add(notice);
    if (!isReading) void read();
  };
}

/** Listens to the workspace's stream: in one tab to the server, in the others to that tab. */
function listen(workspaceId: string, onNotice: (notice: Notice | PresenceNotice) => void): () => void {
  const name = `inbox-stream:${workspaceId}`;
  const tabs = new BroadcastChannel(name);
  const leaving = new AbortController();
  tabs.onmessage = ({ data }) => onNotice(data as Notice | PresenceNotice);
  const tell = (notice: Notice | PresenceNotice) => {
    onNotice(notice);
    tabs.postMessage(notice);
  };
  const address = `/api/workspaces/${workspaceId}/inbox/stream`;
  // Only pages of https and of this machine have locks. Others read every few seconds.
  const { locks } = navigator as Partial<Navigator>;
  locks
    ?.request(name, { signal: leaving.signal }, () => holdStream(address, tell, leaving.signal))
    .catch(() => undefined);
  return () => {
    leaving.abort();
    tabs.close();
  };
}

async function holdStream(
  address: string,
  tell: (notice: Notice | PresenceNotice) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const source = new EventSource(address);
    // What happened before is not told.
    source.addEventListener('ready', () => tell(null));
    source.addEventListener('presence', ({ data }: MessageEvent<string>) =>
      tell(JSON.parse(data) as PresenceNotice),
    );
    source.addEventListener('changed', ({ data }: MessageEvent<string>) =>
      tell((JSON.parse(data) as { conversationId: Notice }).conversationId),
    );
    await new Promise<void>((resolve) => {
      // The browser connects again by itself, unless the server has refused it.
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    source.close();
    await pause(RETRY_MS, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
