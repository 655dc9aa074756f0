import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Workspace } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import type { KeptFailure } from './kept-failure';
import { isNoReply } from './is-no-reply';

/** A message that was sent from this browser, and that the server has not confirmed yet. */
export interface UnsentMessage {
  /** Name of the message for the server, which takes it once. */
  key: string;
  /** Time at which it was written, in milliseconds; undefined if it was kept without. */
  writtenAt?: number;
  body: string;
  /** Whether the conversation is closed once the message is sent. */
  closes: boolean;
  /** Newest message when it was begun; null before the first one, undefined if nothing was known. */
  seenMessageId?: string | null;
  /** Message that was not delivered, and that this one repeats. */
  repeatsId?: string;
  /** Reason of the last failed try; undefined if none has failed. */
  failure?: KeptFailure;
}

interface KeptReply {
  draft: string;
  /** Time of the last edit on this device, in milliseconds. */
  editedAt?: number;
  /** Whether the server has the draft as it is. */
  isSaved?: boolean;
  /** Time of the server's version that was last saved or read; null if there was none. */
  savedAt?: string | null;
  /** Text of the server's version that was last saved or read. */
  savedText?: string;
  /** Note that is not added yet. */
  note?: string;
  unsent: UnsentMessage[];
}

const NOTHING: KeptReply = { draft: '', unsent: [] };

/** Values of the browser's storage, and values that the storage could not take because it is full. */
const memory = new Map<string, KeptReply>();
const listeners = new Set<() => void>();

window.addEventListener('storage', ({ key }) => {
  if (key === null) memory.clear();
  else memory.delete(key);
  for (const notify of listeners) notify();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(name: string): KeptReply {
  const known = memory.get(name);
  if (known) return known;
  const text = localStorage.getItem(name);
  const kept = text === null ? NOTHING : (JSON.parse(text) as KeptReply);
  memory.set(name, kept);
  return kept;
}

function write(name: string, change: Partial<KeptReply>): void {
  const kept = { ...read(name), ...change };
  memory.set(name, kept);
  try {
    if (kept.draft === '' && kept.isSaved !== false && !kept.note && kept.unsent.length === 0)
      localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // The storage is full: the text lives as long as the page.
  }
  for (const notify of listeners) notify();
}

/** Returns the name under which the browser keeps the person's texts for a conversation. */
function useName(conversationId: string): string {
  return prefixOf(useWorkspace()) + conversationId;
}

type Writer = Pick<Workspace, 'id' | 'agentId'>;

function prefixOf({ id, agentId }: Writer): string {
  return `dashboard-reply:${id}:${agentId}:`;
}

/** Draft of a conversation as the browser keeps it, over the page and the session. */
export interface DraftStore {
  read: () => {
    draft: string;
    editedAt: number;
    isSaved: boolean;
    savedAt: string | null;
    savedText: string;
  };
  /** Keeps the text as the person has edited it. */
  edit: (draft: string) => void;
  /** Empties a draft whose text is sent: the server deletes its copy with the message. */
  endSent: () => void;
  /** Takes over the server's text after a save, unless the person has edited the draft since. */
  noteSaved: (draft: string, kept: string, savedAt: string | null) => void;
  /** Takes the server's draft over. */
  take: (draft: string, savedAt: string | null) => void;
}

/** Returns the draft of a conversation, and where it is kept. */
export function useDraftStore(conversationId: string): [string, DraftStore] {
  const name = useName(conversationId);
  const draft = useSyncExternalStore(subscribe, () => read(name).draft);
  const store = useMemo(
    (): DraftStore => ({
      read: () => {
        const { draft, editedAt = 0, isSaved = draft === '', savedAt = null, savedText = '' } = read(name);
        return { draft, editedAt, isSaved, savedAt, savedText };
      },
      edit: (next) => write(name, { draft: next, editedAt: Date.now(), isSaved: false }),
      endSent: () => write(name, { draft: '', editedAt: Date.now(), isSaved: true }),
      noteSaved: (draft, kept, savedAt) => {
        const isEdited = read(name).draft !== draft;
        // The server keeps no such text. Here it stays as it is.
        const text = kept === '' && isNoReply(draft) ? draft : kept;
        const saved = { savedAt, savedText: kept };
        write(name, isEdited ? saved : { ...saved, draft: text, isSaved: true });
      },
      take: (taken, savedAt) => write(name, { draft: taken, isSaved: true, savedAt, savedText: taken }),
    }),
    [name],
  );
  return [draft, store];
}

/** Keeps a note that is not added yet, as a draft is kept, and apart from it. */
export function useNoteText(conversationId: string): [string, (note: string) => void] {
  const name = useName(conversationId);
  const note = useSyncExternalStore(subscribe, () => read(name).note ?? '');
  return [note, useCallback((next: string) => write(name, { note: next }), [name])];
}

/** Keeps messages of a conversation until the server has confirmed them, over the page and the session. */
export function useUnsent(conversationId: string) {
  const name = useName(conversationId);
  const unsent = useSyncExternalStore(subscribe, () => read(name).unsent);
  const changes = useMemo(() => changesOf(name), [name]);
  return { unsent, ...changes };
}

/** Returns the unsent messages of a conversation, outside of a component. */
export function unsentOf(writer: Writer, conversationId: string) {
  return changesOf(prefixOf(writer) + conversationId);
}

/** Returns the conversations with unsent messages in this browser, and these messages. */
export function listUnsent(writer: Writer): [conversationId: string, unsent: UnsentMessage[]][] {
  const prefix = prefixOf(writer);
  return [...new Set([...Object.keys(localStorage), ...memory.keys()])]
    .filter((name) => name.startsWith(prefix))
    .map((name): [string, UnsentMessage[]] => [name.slice(prefix.length), read(name).unsent])
    .filter(([, unsent]) => unsent.length > 0);
}

/** Returns the conversations in which a message was tried in vain. */
export function useNotSent(): Set<string> {
  const { id, agentId } = useWorkspace();
  const ids = useSyncExternalStore(subscribe, () =>
    listUnsent({ id, agentId })
      .filter(([, unsent]) => unsent.some(({ failure }) => failure))
      .map(([conversationId]) => conversationId)
      .join(),
  );
  return useMemo(() => new Set(ids.split(',')), [ids]);
}

/** Returns a function that reports whether the person has written a reply that is not sent yet. */
export function useHasReply(conversationId: string): () => boolean {
  const name = useName(conversationId);
  return useCallback(() => {
    const { draft, unsent } = read(name);
    return draft.trim() !== '' || unsent.length > 0;
  }, [name]);
}

function changesOf(name: string) {
  return {
    /** Keeps a message that is written now; returns false if one with its key is kept already. */
    keep: (message: UnsentMessage): boolean => {
      const { unsent: kept } = read(name);
      if (kept.some(({ key }) => key === message.key)) return false;
      write(name, { unsent: [...kept, { ...message, writtenAt: Date.now() }] });
      return true;
    },
    find: (wanted: string) => read(name).unsent.find(({ key }) => key === wanted),
    change: (key: string, change: Pick<UnsentMessage, 'failure' | 'seenMessageId'>) =>
      write(name, {
        unsent: read(name).unsent.map((one) => (one.key === key ? { ...one, ...change } : one)),
      }),
    remove: (key: string) => write(name, { unsent: read(name).unsent.filter((one) => one.key !== key) }),
    /** Puts the text of an unsent message back at the beginning of the draft. */
    takeBack: ({ key, body }: UnsentMessage) => {
      const { draft, unsent: kept } = read(name);
      write(name, {
        draft: [body, draft].filter(Boolean).join('\n'),
        editedAt: Date.now(),
        isSaved: false,
        unsent: kept.filter((one) => one.key !== key),
      });
    },
  };
}
