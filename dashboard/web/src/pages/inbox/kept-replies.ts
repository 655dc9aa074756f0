import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { useWorkspace } from '../../api/workspace';

/** A message that was sent from this browser, and that the server has not confirmed yet. */
export interface UnsentMessage {
  /** Name of the message for the server, which takes it once. */
  key: string;
  body: string;
  /** Whether the conversation is closed once the message is sent. */
  closes: boolean;
}

interface KeptReply {
  draft: string;
  unsent: UnsentMessage[];
}

const NOTHING: KeptReply = { draft: '', unsent: [] };

/** Values of the browser's storage, and those that it could not take because it is full. */
const memory = new Map<string, string>();
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

function read(name: string): string {
  const text = memory.get(name) ?? localStorage.getItem(name) ?? '';
  memory.set(name, text);
  return text;
}

function write(name: string, { draft, unsent }: KeptReply): void {
  const text = draft === '' && unsent.length === 0 ? '' : JSON.stringify({ draft, unsent });
  memory.set(name, text);
  try {
    if (text === '') localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The storage is full: the text lives as long as the page.
  }
  for (const notify of listeners) notify();
}

function parse(text: string): KeptReply {
  return text === '' ? NOTHING : (JSON.parse(text) as KeptReply);
}

/**
 * Keeps the draft of a conversation, and its messages until the server has confirmed them. Both outlive the
 * page and the session, and belong to one person in one workspace.
 */
export function useKeptReply(conversationId: string) {
  const { id, agentId } = useWorkspace();
  const name = `dashboard-reply:${id}:${agentId}:${conversationId}`;
  const text = useSyncExternalStore(subscribe, () => read(name));
  const kept = useMemo(() => parse(text), [text]);
  const change = useCallback(
    (act: (kept: KeptReply) => Partial<KeptReply>) => {
      const before = parse(read(name));
      write(name, { ...before, ...act(before) });
    },
    [name],
  );
  return { kept, change };
}
