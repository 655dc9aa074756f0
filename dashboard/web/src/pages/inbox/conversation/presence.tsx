import { IconEye, IconPencil, IconUser } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { api, toQuery } from '../../../api/client';
import type { ConversationPresence, Page } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { useAgentName } from '../names';
import classes from './presence.module.css';

const REFRESH_MS = 10_000;
/** Milliseconds between two reads while an agent or visitor writes, because no event reports the end. */
const WRITING_REFRESH_MS = 3_000;
/** Milliseconds in which rows that become visible are collected, so that scrolling causes one read. */
const COLLECT_MS = 200;
const MAX_ASKED = 100;

interface Presence {
  byConversation: Map<string, ConversationPresence>;
  /** Reads repeatedly who is in a conversation, until the returned function is called. */
  watch: (conversationId: string) => () => void;
}

const PresenceContext = createContext<Presence | null>(null);

/** Reads which agents and visitors are in the conversations that the page shows, with one request for all. */
export function PresenceProvider({ children }: { children: ReactNode }) {
  const { id } = useWorkspace();
  const { ids, watch } = useWatched();
  const { data } = useQuery({
    queryKey: ['workspaces', id, 'inbox', 'presence', ids],
    queryFn: ({ signal }) =>
      api.get<Page<ConversationPresence>>(
        `/workspaces/${id}/inbox/presence${toQuery({ conversationIds: ids })}`,
        signal,
      ),
    enabled: ids !== '',
    refetchInterval: ({ state }) =>
      state.data?.data.some(isSomebodyWriting) ? WRITING_REFRESH_MS : REFRESH_MS,
    // Shows the previous answer until the answer for new rows arrives.
    placeholderData: (before) => before,
    retry: false,
  });
  const value = useMemo(() => {
    const byConversation = new Map(data?.data.map((one) => [one.conversationId, one]));
    return { byConversation, watch };
  }, [data, watch]);
  return <PresenceContext value={value}>{children}</PresenceContext>;
}

/** Returns the watched conversations' ids, joined by commas, and a function that watches one. */
function useWatched() {
  const [ids, setIds] = useState('');
  const watched = useRef(new Map<string, number>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const count = useCallback((conversationId: string, step: number) => {
    const next = (watched.current.get(conversationId) ?? 0) + step;
    if (next > 0) watched.current.set(conversationId, next);
    else watched.current.delete(conversationId);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => setIds([...watched.current.keys()].slice(-MAX_ASKED).sort().join()),
      COLLECT_MS,
    );
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  const watch = useCallback(
    (conversationId: string) => {
      count(conversationId, 1);
      return () => count(conversationId, -1);
    },
    [count],
  );
  return { ids, watch };
}

function usePresence(conversationId: string): ConversationPresence | undefined {
  return use(PresenceContext)?.byConversation.get(conversationId);
}

/** Shows in a row of the list who is in its conversation. Reads this only while the row is visible. */
export function PresenceSign({ conversationId }: { conversationId: string }) {
  const sign = useRef<HTMLSpanElement>(null);
  const watch = use(PresenceContext)?.watch;
  const texts = usePresenceTexts(conversationId);
  const presence = usePresence(conversationId);
  const isWriting = presence !== undefined && isSomebodyWriting(presence);
  useEffect(() => {
    // Observes the row, because the browser may skip the rendering of its content.
    const row = sign.current?.closest('li');
    if (!row || !watch) return;
    let unwatch: (() => void) | undefined;
    const observer = new IntersectionObserver(([entry]) => {
      unwatch?.();
      unwatch = entry?.isIntersecting ? watch(conversationId) : undefined;
    });
    observer.observe(row);
    return () => {
      observer.disconnect();
      unwatch?.();
    };
  }, [conversationId, watch]);
  const label = texts.join(' · ');
  const hasColleague = presence !== undefined && presence.agents.length > 0;
  const Icon = isWriting ? IconPencil : hasColleague ? IconEye : IconUser;
  return (
    <span ref={sign} className={classes.sign}>
      {texts.length > 0 && (
        <span
          role="img"
          aria-label={label}
          title={label}
          data-writing={isWriting}
          data-online={!hasColleague}
        >
          <Icon size={14} stroke={1.8} aria-hidden />
        </span>
      )}
    </span>
  );
}

export function PresenceLine({ conversationId }: { conversationId: string }) {
  const watch = use(PresenceContext)?.watch;
  useEffect(() => watch?.(conversationId), [conversationId, watch]);
  return (
    <div className={classes.line} role="status">
      {usePresenceTexts(conversationId).map((text) => (
        <bdi key={text}>{text}</bdi>
      ))}
    </div>
  );
}

function isSomebodyWriting({ agents, visitor }: ConversationPresence): boolean {
  return visitor === 'TYPING' || agents.some(({ act }) => act !== 'LOOKING');
}

/** Returns a sentence on the visitor, and one for each activity of colleagues, such as replying. */
function usePresenceTexts(conversationId: string): string[] {
  const { presence } = useTexts().inbox;
  const nameOf = useAgentName();
  const { agents = [], visitor = null } = usePresence(conversationId) ?? {};
  const ofAgents = (['REPLYING', 'NOTING', 'LOOKING'] as const).flatMap((act) => {
    const names = agents.filter((agent) => agent.act === act).map(({ agentId }) => nameOf(agentId));
    return names.length > 0 ? [presence[act](names)] : [];
  });
  return visitor === null ? ofAgents : [presence.visitor[visitor], ...ofAgents];
}
