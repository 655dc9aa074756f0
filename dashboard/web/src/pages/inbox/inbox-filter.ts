import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Channel, ConversationStatus } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { NOBODY } from './list/cached-lists';
import { isMatter, type Matter } from './matters';

export const VIEWS = ['mine', 'nobody', 'all'] as const;
export type View = (typeof VIEWS)[number] | 'agent' | Matter;

export const STATUSES: readonly ConversationStatus[] = ['OPEN', 'SNOOZED', 'CLOSED'];
export const CHANNELS = Object.keys(CHANNEL_LABELS) as Channel[];

export interface InboxFilter {
  view: View;
  /** Id of the colleague whose conversations the view `agent` shows. */
  agent: string | undefined;
  status: ConversationStatus;
  channel: Channel | undefined;
}

const route = getRouteApi('/inside/w/$slug/inbox');

/** Returns the filter in the page's address. A missing or unknown value is replaced by its default. */
export function useInboxFilter(): InboxFilter {
  const { view, agent, status, channel } = route.useSearch();
  return useMemo(
    () => ({
      view: agent ? 'agent' : isMatter(view) ? view : (VIEWS.find((one) => one === view) ?? 'mine'),
      agent: agent || undefined,
      status: STATUSES.find((one) => one === status) ?? 'OPEN',
      channel: CHANNELS.find((one) => one === channel),
    }),
    [view, agent, status, channel],
  );
}

export function toSearch({ view, agent, status, channel }: InboxFilter) {
  return {
    ...(view === 'agent' ? { agent } : { view }),
    ...(status !== 'OPEN' && { status }),
    ...(channel && { channel }),
  };
}

/** Returns a function that turns a filter into the server's `assignedAgentId`; undefined for all agents. */
export function useAssigneeOf(): (filter: InboxFilter) => string | undefined {
  const { agentId } = useWorkspace();
  return ({ view, agent }) =>
    ({ mine: agentId, nobody: NOBODY, all: undefined, agent, waiting: undefined, lost: undefined })[view];
}
