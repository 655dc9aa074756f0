import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, ApiError } from '../../../api/client';
import type { SentReply, Workspace } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useAnnounce } from '../../../common/announcer';
import { useTexts } from '../../../i18n/locale';
import { goesByItself } from './kept-failure';
import { listUnsent, type UnsentMessage, unsentOf } from './kept-replies';
import { sendingKey, sendingOptions } from './sending-options';

/** Milliseconds between two attempts. They repeat, because no event reports that the server is back. */
const PAUSE_MS = 10_000;

interface Sender extends Pick<Workspace, 'id' | 'agentId'> {
  /** Called if a conversation could not be closed after its message was sent. */
  onNotClosed: () => void;
}

/** Sends the unsent messages of all conversations in this browser again once the server can be reached. */
export function useResends(): void {
  const { id, agentId } = useWorkspace();
  const queries = useQueryClient();
  const { inbox } = useTexts();
  const announce = useAnnounce();
  useEffect(() => {
    const sender = { id, agentId, onNotClosed: () => announce(inbox.notClosed, 'refusal') };
    const resend = () => void inOneTab(sender, () => resendAll(queries, sender, false));
    void inOneTab(sender, () => resendAll(queries, sender, true));
    const timer = window.setInterval(resend, PAUSE_MS);
    window.addEventListener('online', resend);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', resend);
    };
  }, [queries, id, agentId, inbox, announce]);
}

/** Runs work in one tab. Without browser locks all tabs run it, but idempotency keys prevent duplicates. */
async function inOneTab({ id, agentId }: Sender, work: () => Promise<void>): Promise<void> {
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return work();
  await locks.request(`resend:${id}:${agentId}`, { ifAvailable: true }, (lock) => lock && work());
}

async function resendAll(queries: QueryClient, sender: Sender, isFirst: boolean): Promise<void> {
  if (!navigator.onLine) return;
  for (const [conversationId, unsent] of listUnsent(sender)) {
    for (const { key } of unsent) {
      // Another tab may have sent the message meanwhile, or the person may have withdrawn it.
      const message = unsentOf(sender, conversationId).find(key);
      if (!message || isOnItsWay(queries, sender, conversationId, key)) continue;
      // Later messages of the conversation wait too, so that they arrive in the order of writing.
      if (!goesByItself(message, isFirst, Date.now())) break;
      try {
        await send(queries, sender, conversationId, message);
      } catch (error) {
        if (error instanceof ApiError && error.status === 0) return;
        break;
      }
    }
  }
}

function send(
  queries: QueryClient,
  sender: Sender,
  conversationId: string,
  message: UnsentMessage,
): Promise<SentReply> {
  const close = () =>
    void api
      .patch(`/workspaces/${sender.id}/conversations/${conversationId}`, { status: 'CLOSED' })
      .catch(sender.onNotClosed);
  const options = sendingOptions(queries, sender, conversationId, close);
  return queries
    .getMutationCache()
    .build<SentReply, Error, UnsentMessage, unknown>(queries, queries.defaultMutationOptions(options))
    .execute(message);
}

function isOnItsWay(queries: QueryClient, { id }: Sender, conversationId: string, key: string): boolean {
  const mutationKey = sendingKey(id, conversationId);
  return (
    queries.isMutating({
      mutationKey,
      predicate: ({ state }) => (state.variables as UnsentMessage | undefined)?.key === key,
    }) > 0
  );
}
