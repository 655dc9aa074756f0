import { useEffect, useMemo } from 'react';
import { api } from '../../../api/client';
import type { SignalPresence } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { isNoReply } from '../reply/is-no-reply';

/** Pause between two signals of a person who looks. The server forgets a signal after 45 s. */
const LOOKING_EVERY_MS = 20_000;
/** Time after which an open conversation counts as looked at, and not just passed by. */
const PASSING_MS = 400;
/** Pause between two signals of a person who writes. The server forgets a signal after 6 s. */
const WRITING_EVERY_MS = 3_000;
const WRITING_LASTS_MS = 6_000;

type Writing = Pick<SignalPresence, 'conversationId' | 'act'> & { at: number };

/** Latest writing of the person in this tab that was not ended. */
let last: Writing | null = null;

const signal = (workspaceId: string, body: SignalPresence) =>
  api.tell(`/workspaces/${workspaceId}/inbox/presence`, body);

/** Tells colleagues that the person looks at a conversation, for as long as the tab shows it. */
export function useLooking(conversationId: string): void {
  const { id: workspaceId } = useWorkspace();
  useEffect(() => {
    let isThere = false;
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      isThere = true;
      // A signal of looking ends the writing, and a signal of writing implies looking.
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

/** Returns functions that tell colleagues, and the visitor of a reply, that the person writes. */
export function useWriting(conversationId: string, act: 'REPLYING' | 'NOTING') {
  const { id: workspaceId } = useWorkspace();
  return useMemo(() => {
    /** Notes that the text is sent or dropped. */
    const end = () => {
      if (last?.conversationId !== conversationId) return;
      last = null;
      signal(workspaceId, { conversationId, act: 'LOOKING' });
    };
    /** Notes that the text has changed. */
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
