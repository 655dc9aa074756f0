import { useEffect, useMemo } from 'react';
import { api } from '../../../api/client';
import type { SignalPresence } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { isNoReply } from '../reply/is-no-reply';

/** Milliseconds between two signals that a conversation is open. The server deletes a signal after 45 s. */
const LOOKING_EVERY_MS = 20_000;
/** Milliseconds until an opened conversation is signalled, because the person may only pass over it. */
const PASSING_MS = 400;
/** Milliseconds between two signals that the person is writing. The server deletes a signal after 6 s. */
const WRITING_EVERY_MS = 3_000;
const WRITING_LASTS_MS = 6_000;

type Writing = Pick<SignalPresence, 'conversationId' | 'act'> & { at: number };

/** Latest signal that the person writes in this tab; null once the text is sent or deleted. */
let last: Writing | null = null;

const signal = (workspaceId: string, body: SignalPresence) =>
  api.tell(`/workspaces/${workspaceId}/inbox/presence`, body);

/** Tells colleagues that the person has a conversation open, as long as the browser shows the tab. */
export function useLooking(conversationId: string): void {
  const { id: workspaceId } = useWorkspace();
  useEffect(() => {
    let isThere = false;
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      isThere = true;
      // Sends no `LOOKING` while the person writes, because colleagues would then no longer see the writing.
      const isWriting = last?.conversationId === conversationId && Date.now() - last.at < WRITING_LASTS_MS;
      if (!isWriting) signal(workspaceId, { conversationId, act: 'LOOKING' });
    };
    const leave = () => {
      if (isThere) signal(workspaceId, { conversationId, act: 'LEFT' });
      isThere = false;
      last = null;
    };
    const follow = () => (document.visibilityState === 'visible' ? look() : leave());
    const passing = setTimeout(look, PASSING_MS);
    const repeated = setInterval(look, LOOKING_EVERY_MS);
    document.addEventListener('visibilitychange', follow);
    addEventListener('pagehide', leave);
    return () => {
      clearTimeout(passing);
      clearInterval(repeated);
      document.removeEventListener('visibilitychange', follow);
      removeEventListener('pagehide', leave);
      leave();
    };
  }, [workspaceId, conversationId]);
}

/** Returns functions that report the person's writing to colleagues, and if it is a reply, to the visitor. */
export function useWriting(conversationId: string, act: 'REPLYING' | 'NOTING') {
  const { id: workspaceId } = useWorkspace();
  return useMemo(() => {
    /** Must be called when the text is sent or deleted. */
    const end = () => {
      if (last?.conversationId !== conversationId) return;
      last = null;
      signal(workspaceId, { conversationId, act: 'LOOKING' });
    };
    /** Must be called at each change of the text. */
    const type = (text: string) => {
      if (isNoReply(text)) return end();
      const now = Date.now();
      const isSaid = last?.conversationId === conversationId && last.act === act;
      if (isSaid && now - last!.at < WRITING_EVERY_MS) return;
      last = { conversationId, act, at: now };
      signal(workspaceId, { conversationId, act });
    };
    return { type, end };
  }, [workspaceId, conversationId, act]);
}
