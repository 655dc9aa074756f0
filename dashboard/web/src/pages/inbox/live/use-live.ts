import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sessionQuery } from '../../../api/session';
import type { ChangedConversation } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { isStreamLive, leads, noteHandedOver, noteLeading, noteLive } from './live-state';
import { withoutOwn } from './own-events';
import { makePacedReader } from './paced-reads';
import { refreshContacts, refreshCounts, refreshInbox, refreshOpen, refreshPresence } from '../inbox-cache';
import { isShownAs, refreshList, rowsOfContacts } from '../list/cached-lists';

/** Milliseconds until the next try after the server has refused the stream of changes. */
const RETRY_MS = 15_000;
/** Milliseconds of silence after which a stream counts as dead. The server sends a heartbeat every 15 s. */
const MAX_SILENCE_MS = 40_000;
const EVENTS = ['ready', 'presence', 'changed', 'contacts', 'read', 'unread', 'handed-over', 'heartbeat'];
/** Shortest pauses in ms between two reads of the open conversation, of the list, and of the counts. */
const OPEN_REST_MS = 200;
const LIST_REST_MS = 300;
const COUNTS_REST_MS = 2_000;

/** Reports conversations that have changed; null if any may have changed. */
interface ConversationsNotice {
  changes: ChangedConversation[] | null;
}

/** Reports conversations that a colleague has opened, left or begun to write in; null if it may be any. */
interface PresenceNotice {
  conversationIds: string[] | null;
}

/** Reports contacts that have changed; null if any may have changed. */
interface ContactsNotice {
  contactIds: string[] | null;
}

/** Reports conversations that the person has marked read or unread, on any device; null if it may be any. */
interface MarksNotice {
  marked: string[] | null;
  isUnread: boolean;
}

/** Reports conversations that a colleague or an API key gave to this person, or whose snooze has ended. */
interface HandoverNotice {
  handedOver: string[];
}

/** Reports that the stream has begun. It reports only later changes, so everything must be read now. */
interface Beginning {
  begins: true;
}

/** Message from the tab that holds the stream of changes to the other tabs. */
type Notice =
  | Beginning
  | ConversationsNotice
  | PresenceNotice
  | ContactsNotice
  | MarksNotice
  | HandoverNotice
  | { isLive: boolean };

/** Message with which a new tab asks whether the stream is live. */
const ASKS = 'asks';

/**
 * Reads the inbox's data again as soon as the server reports a change. All tabs share one stream, because a
 * browser opens few connections to one server.
 */
export function useLiveInbox(): void {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  useEffect(() => {
    const read = makeReader(queries, id);
    const stop = listen(id, (notice) => {
      const wasLive = isStreamLive();
      noteLive(!('isLive' in notice) || notice.isLive);
      if ('changes' in notice) void read.conversations(notice.changes);
      if ('contactIds' in notice) read.contacts(notice.contactIds);
      if ('marked' in notice) read.marks(notice);
      if ('handedOver' in notice) noteHandedOver(notice.handedOver);
      // Reads everything, because changes while this tab had no live stream were not reported to it.
      if ('begins' in notice || (!wasLive && isStreamLive())) void read.conversations(null);
      if ('begins' in notice) {
        // Reads the session too, because the server ends the stream when the person's role changes.
        void queries.invalidateQueries(sessionQuery);
      }
      if ('conversationIds' in notice) void refreshPresence(queries, id, notice.conversationIds);
    });
    return () => {
      stop();
      noteLive(false);
    };
  }, [queries, id]);
}

/** Returns functions that read changed data again if the page shows it. They limit the reads per second. */
function makeReader(queries: QueryClient, workspaceId: string) {
  const readAll = makePacedReader<'all'>(LIST_REST_MS, () => refreshInbox(queries, workspaceId));
  const readOpen = makePacedReader<string>(OPEN_REST_MS, (ids) => refreshOpen(queries, workspaceId, ids));
  const readMessages = makePacedReader<string>(OPEN_REST_MS, (ids) =>
    refreshOpen(queries, workspaceId, ids, ['messages']),
  );
  const readContacts = makePacedReader<string>(OPEN_REST_MS, (ids) =>
    refreshContacts(queries, workspaceId, ids),
  );
  const readList = makePacedReader<string>(LIST_REST_MS, (ids) => refreshList(queries, workspaceId, ids));
  const readCounts = makePacedReader<'counts'>(COUNTS_REST_MS, () => refreshCounts(queries, workspaceId));
  const readRows = (conversationIds: string[]) => {
    for (const id of conversationIds) readList(id);
    readCounts('counts');
  };
  return {
    conversations: async (changes: ChangedConversation[] | null) => {
      if (changes === null) return readAll('all');
      for (const { conversationId, isProgress } of await withoutOwn(changes)) {
        if (isProgress) readMessages(conversationId);
        else {
          readOpen(conversationId);
          readRows([conversationId]);
        }
      }
    },
    contacts: (changed: string[] | null) => {
      if (changed === null) return readAll('all');
      for (const id of changed) readContacts(id);
      for (const id of rowsOfContacts(queries, workspaceId, changed)) readList(id);
    },
    marks: ({ marked, isUnread }: MarksNotice) => {
      if (marked === null) return readAll('all');
      // Reads nothing if the lists show the mark already, as in the tab in which the person has made it.
      if (!marked.every((id) => isShownAs(queries, workspaceId, id, isUnread))) readRows(marked);
    },
  };
}

/** Listens to the workspace's stream of changes. One tab connects to the server and informs the others. */
function listen(workspaceId: string, onNotice: (notice: Notice) => void): () => void {
  const name = `inbox-stream:${workspaceId}`;
  const tabs = new BroadcastChannel(name);
  const leaving = new AbortController();
  tabs.onmessage = ({ data }: MessageEvent<Notice | typeof ASKS>) => {
    if (data !== ASKS) onNotice(data);
    else if (leads()) tabs.postMessage({ isLive: isStreamLive() } satisfies Notice);
  };
  tabs.postMessage(ASKS);
  const tell = (notice: Notice) => {
    onNotice(notice);
    tabs.postMessage(notice);
  };
  const address = `/api/workspaces/${workspaceId}/inbox/stream`;
  // Browsers provide locks only to pages over https or from localhost. Without locks, the page polls.
  const { locks } = navigator as Partial<Navigator>;
  locks
    ?.request(name, { signal: leaving.signal }, async () => {
      noteLeading(true);
      await holdStream(address, tell, leaving.signal);
      noteLeading(false);
    })
    .catch(() => undefined);
  return () => {
    leaving.abort();
    tabs.close();
  };
}

async function holdStream(
  address: string,
  tell: (notice: Notice) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const source = new EventSource(address);
    source.addEventListener('ready', () => tell({ begins: true }));
    source.addEventListener('heartbeat', () => tell({ isLive: true }));
    for (const name of ['presence', 'changed', 'contacts'])
      source.addEventListener(name, ({ data }: MessageEvent<string>) =>
        tell(JSON.parse(data) as PresenceNotice | ConversationsNotice | ContactsNotice),
      );
    for (const mark of ['read', 'unread', 'handed-over'])
      source.addEventListener(mark, ({ data }: MessageEvent<string>) => {
        const { conversationIds } = JSON.parse(data) as { conversationIds: string[] | null };
        if (mark === 'handed-over') tell({ handedOver: conversationIds ?? [] });
        else tell({ marked: conversationIds, isUnread: mark === 'unread' });
      });
    source.addEventListener('error', () => tell({ isLive: false }));
    const isRefused = await untilItEnds(source, signal);
    source.close();
    if (isRefused) await pause(RETRY_MS, signal);
  }
}

/** Waits until a stream ends or is silent for too long. Returns whether the server has refused the stream. */
function untilItEnds(source: EventSource, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isRefused: boolean) => {
      clearTimeout(silence);
      resolve(isRefused);
    };
    // Ends after a silence, because a proxy may hold back events and a network may fail without an error.
    let silence = setTimeout(end, MAX_SILENCE_MS, false);
    const hear = () => {
      clearTimeout(silence);
      silence = setTimeout(end, MAX_SILENCE_MS, false);
    };
    for (const event of EVENTS) source.addEventListener(event, hear);
    // Only a refusal closes the source. After any other error, the browser connects again by itself.
    source.addEventListener('error', () => source.readyState === EventSource.CLOSED && end(true));
    signal.addEventListener('abort', () => end(false), { once: true });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
