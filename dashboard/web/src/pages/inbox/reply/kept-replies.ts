import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { FileKind, Workspace } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import type { FileRefusal } from '../files/channel-refusal';
import type { KeptFailure } from './kept-failure';
import { isNoReply } from './is-no-reply';

/** File that the person has chosen for a reply. */
export interface ChosenFile {
  key: string;
  name: string;
  /** Bytes of the file. */
  size: number;
  /** Content type that the browser tells, or an empty text. */
  type: string;
  caption: string;
  /** Number of uploads that have expired before they were done. */
  attempt?: number;
  /** The upload once the server has stored the bytes. */
  upload?: { id: string; kind: FileKind; contentType: string };
  refusal?: FileRefusal;
}

/** Message that the person has sent in this browser and that the server has not confirmed. */
export interface UnsentMessage {
  /** Idempotency key, by which the server stores the message only once. */
  key: string;
  /** Time at which the person submitted it, in milliseconds since 1970; undefined if it is unknown. */
  writtenAt?: number;
  body: string;
  files?: ChosenFile[];
  /** Whether the conversation is to be closed once the message is sent. */
  closes: boolean;
  /**
   * Id of the conversation's newest message when the person began to write. Null if there was none, undefined
   * if it is unknown.
   */
  seenMessageId?: string | null;
  /** Id of the undelivered message that this one repeats. */
  repeatsId?: string;
  failure?: KeptFailure;
}

interface KeptReply {
  draft: string;
  /** Time of the last edit in this browser, in milliseconds since 1970. */
  editedAt?: number;
  /** Whether the server has stored the draft in its present form. */
  isSaved?: boolean;
  /** Time stamp of the server's draft when it was last saved or read; null if there was none. */
  savedAt?: string | null;
  /** Text of the server's draft when it was last saved or read. */
  savedText?: string;
  /** Text of a note that has not been added to the conversation. */
  note?: string;
  /** Files of the next reply. */
  files?: ChosenFile[];
  unsent: UnsentMessage[];
}

const NOTHING: KeptReply = { draft: '', unsent: [] };
const NO_FILES: ChosenFile[] = [];

/** Cache of the browser's storage by name. Also holds values that did not fit into the storage. */
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
    if (
      kept.draft === '' &&
      kept.isSaved !== false &&
      !kept.note &&
      !kept.files?.length &&
      !kept.unsent.length
    )
      localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // If the storage is full, the text is lost when the page is closed.
  }
  for (const notify of listeners) notify();
}

function useName(conversationId: string): string {
  return prefixOf(useWorkspace()) + conversationId;
}

type Writer = Pick<Workspace, 'id' | 'agentId'>;

function prefixOf({ id, agentId }: Writer): string {
  return `dashboard-reply:${id}:${agentId}:`;
}

/** Draft of a conversation in the browser's storage, where it remains after a reload or logout. */
export interface DraftStore {
  read: () => {
    draft: string;
    editedAt: number;
    isSaved: boolean;
    savedAt: string | null;
    savedText: string;
  };
  /** Stores a text that the person has edited, and marks it as not saved on the server. */
  edit: (draft: string) => void;
  /** Empties a draft whose text is being sent. The server deletes its copy when it stores the message. */
  endSent: () => void;
  /**
   * Records that the text `draft` was saved and that the server stored `kept`. The draft becomes `kept`,
   * unless the person has edited it since.
   */
  noteSaved: (draft: string, kept: string, savedAt: string | null) => void;
  take: (draft: string, savedAt: string | null) => void;
}

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
        // Keeps a text that only searches for a saved reply, because the server does not store such a text.
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

/** Returns the text of a note that is not added yet, and a function that stores it in the browser. */
export function useNoteText(conversationId: string): [string, (note: string) => void] {
  const name = useName(conversationId);
  const note = useSyncExternalStore(subscribe, () => read(name).note ?? '');
  return [note, useCallback((next: string) => write(name, { note: next }), [name])];
}

export type ChosenFiles = ReturnType<typeof chosenFilesOf>;

/** Returns the files that are chosen for a conversation's next reply, and functions that change them. */
export function useChosenFiles(conversationId: string): [ChosenFile[], ChosenFiles] {
  const name = useName(conversationId);
  const files = useSyncExternalStore(subscribe, () => read(name).files ?? NO_FILES);
  return [files, useMemo(() => chosenFilesOf(name), [name])];
}

function chosenFilesOf(name: string) {
  const list = () => read(name).files ?? NO_FILES;
  return {
    list,
    add: (files: ChosenFile[]) => write(name, { files: [...list(), ...files] }),
    change: (key: string, change: Partial<ChosenFile>) =>
      write(name, { files: list().map((file) => (file.key === key ? { ...file, ...change } : file)) }),
    remove: (key: string) => write(name, { files: list().filter((file) => file.key !== key) }),
  };
}

/** Returns a conversation's messages that the server has not confirmed, and functions that change them. */
export function useUnsent(conversationId: string) {
  const name = useName(conversationId);
  const unsent = useSyncExternalStore(subscribe, () => read(name).unsent);
  const changes = useMemo(() => changesOf(name), [name]);
  return { unsent, ...changes };
}

/** Returns functions that read and change a conversation's unsent messages, for use outside a component. */
export function unsentOf(writer: Writer, conversationId: string) {
  return changesOf(prefixOf(writer) + conversationId);
}

/** Returns the conversations with unsent messages in this browser, each with its unsent messages. */
export function listUnsent(writer: Writer): [conversationId: string, unsent: UnsentMessage[]][] {
  const prefix = prefixOf(writer);
  return [...new Set([...Object.keys(localStorage), ...memory.keys()])]
    .filter((name) => name.startsWith(prefix))
    .map((name): [string, UnsentMessage[]] => [name.slice(prefix.length), read(name).unsent])
    .filter(([, unsent]) => unsent.length > 0);
}

/** Returns the ids of the conversations with a message that could not be sent. */
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

/** Returns a function that reports whether the conversation has a draft or an unsent message. */
export function useHasReply(conversationId: string): () => boolean {
  const name = useName(conversationId);
  return useCallback(() => {
    const { draft, files, unsent } = read(name);
    return draft.trim() !== '' || Boolean(files?.length) || unsent.length > 0;
  }, [name]);
}

function changesOf(name: string) {
  return {
    /** Stores a submitted message. Returns false if a message with its key is stored already. */
    keep: (message: UnsentMessage): boolean => {
      const { unsent: kept } = read(name);
      if (kept.some(({ key }) => key === message.key)) return false;
      const sent = new Set(message.files?.map(({ key }) => key));
      const files = read(name).files?.filter(({ key }) => !sent.has(key));
      write(name, { files, unsent: [...kept, { ...message, writtenAt: Date.now() }] });
      return true;
    },
    find: (wanted: string) => read(name).unsent.find(({ key }) => key === wanted),
    change: (key: string, change: Pick<UnsentMessage, 'failure' | 'seenMessageId'>) =>
      write(name, {
        unsent: read(name).unsent.map((one) => (one.key === key ? { ...one, ...change } : one)),
      }),
    remove: (key: string) => write(name, { unsent: read(name).unsent.filter((one) => one.key !== key) }),
    /** Removes an unsent message, and puts its text and files in front of the draft. */
    takeBack: ({ key, body, files = [], failure }: UnsentMessage) => {
      const { draft, files: chosen = [], unsent: kept } = read(name);
      // An upload may be why the server refused the message, as after a day. Another one is then made.
      const isRefused = failure?.status === 400;
      const again = files.map((file) =>
        isRefused ? { ...file, upload: undefined, attempt: (file.attempt ?? 0) + 1 } : file,
      );
      write(name, {
        files: [...again, ...chosen],
        draft: [body, draft].filter(Boolean).join('\n'),
        editedAt: Date.now(),
        isSaved: false,
        unsent: kept.filter((one) => one.key !== key),
      });
    },
  };
}
