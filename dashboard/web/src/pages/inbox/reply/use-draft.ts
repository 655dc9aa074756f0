import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { api } from '../../../api/client';
import type { Draft, DraftSummary, MAX_DRAFT_CHARACTERS, Page, SaveDraft } from '../../../api/types';
import { useRead, useWorkspace } from '../../../api/workspace';
import { isNoReply } from './is-no-reply';
import { type DraftStore, useDraftStore } from './kept-replies';

/** Milliseconds from the last key press until a draft is saved. */
const PAUSE_MS = 1_000;
const REFRESH_MS = 30_000;
const MAX_CHARACTERS: typeof MAX_DRAFT_CHARACTERS = 10_000;

/** Latest save of each draft, by path. The next save waits for it, so that no older text arrives last. */
const saving = new Map<string, Promise<void>>();

/** Stores a draft in the browser, and on the server for the person's other devices. The last edit wins. */
export function useDraft(
  conversationId: string,
): [draft: string, edit: (draft: string) => void, end: (sent: string) => void] {
  const { id: workspaceId, isSuspended, isTrialExpired } = useWorkspace();
  const queries = useQueryClient();
  const [draft, store] = useDraftStore(conversationId);
  const isReadOnly = isSuspended || isTrialExpired;

  useEffect(() => {
    const target = { queries, workspaceId, conversationId, store };
    const save = () => void (isReadOnly || saveDraft(target));
    const compare = () => void (document.visibilityState === 'visible' ? readDraft(target) : save());
    compare();
    document.addEventListener('visibilitychange', compare);
    addEventListener('pagehide', save);
    return () => {
      document.removeEventListener('visibilitychange', compare);
      removeEventListener('pagehide', save);
      save();
    };
  }, [queries, workspaceId, conversationId, store, isReadOnly]);

  useEffect(() => {
    if (isReadOnly || store.read().isSaved) return;
    const save = () => void saveDraft({ queries, workspaceId, conversationId, store });
    const timer = setTimeout(save, draft === '' ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft, queries, workspaceId, conversationId, store, isReadOnly]);

  const end = useCallback(
    (sent: string) => {
      const target = { queries, workspaceId, conversationId, store };
      // The server deletes its draft if the message begins with it. A running save may store the draft again.
      const isDeleted = sent.startsWith(store.read().savedText.trim()) && !saving.has(pathOf(target));
      if (!isDeleted) return store.edit('');
      store.endSent();
      markDraft(target, null);
    },
    [queries, workspaceId, conversationId, store],
  );
  return [draft, store.edit, end];
}

export function useDrafts(): Set<string> {
  const { data } = useRead<Page<DraftSummary>>('drafts', {}, { refreshMs: REFRESH_MS });
  return new Set(data?.data.map(({ conversationId }) => conversationId));
}

interface Target {
  queries: QueryClient;
  workspaceId: string;
  conversationId: string;
  store: DraftStore;
}

const pathOf = ({ workspaceId, conversationId }: Target) =>
  `/workspaces/${workspaceId}/conversations/${conversationId}/draft`;

/** Saves a changed draft on the server. If that fails, as without a network, a later call saves it. */
function saveDraft(target: Target): Promise<void> {
  const path = pathOf(target);
  const saved = (saving.get(path) ?? Promise.resolve()).then(async () => {
    const { draft, editedAt, isSaved, savedAt } = target.store.read();
    if (isSaved || [...draft].length > MAX_CHARACTERS) return;
    const change: SaveDraft = {
      body: isNoReply(draft) ? '' : draft,
      editedAt: new Date(editedAt).toISOString(),
      basedOn: savedAt,
    };
    try {
      const found = await api.putAtLast<Draft>(path, change);
      target.store.noteSaved(draft, found.body, found.updatedAt);
      markDraft(target, found.updatedAt);
    } catch {
      // A later call saves the draft.
    }
  });
  saving.set(path, saved);
  void saved.then(() => saving.get(path) === saved && saving.delete(path));
  return saved;
}

/** Shows the server's draft. Saves an unsaved draft instead; the server keeps the later of the two. */
async function readDraft(target: Target): Promise<void> {
  const path = pathOf(target);
  await saving.get(path);
  const found = await api.get<Draft>(path).catch(() => null);
  if (!found) return;
  const { isSaved, savedAt } = target.store.read();
  if (!isSaved) return saveDraft(target);
  if (found.updatedAt === savedAt) return;
  target.store.take(found.body, found.updatedAt);
  markDraft(target, found.updatedAt);
}

/** Shows at once in the list whether a conversation has a draft; `updatedAt` is null if it has none. */
function markDraft({ queries, workspaceId, conversationId }: Target, updatedAt: string | null): void {
  queries.setQueryData<Page<DraftSummary>>(['workspaces', workspaceId, 'drafts', {}], (page) => {
    if (!page) return page;
    const others = page.data.filter((one) => one.conversationId !== conversationId);
    return { ...page, data: updatedAt === null ? others : [{ conversationId, updatedAt }, ...others] };
  });
}
