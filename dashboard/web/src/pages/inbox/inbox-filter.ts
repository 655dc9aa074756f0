import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Channel, ConversationStatus } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';

export const VIEWS = ['mine', 'nobody', 'all'] as const;
export type View = (typeof VIEWS)[number];

/** Name of nobody, where an agent's id may stand. */
export const NOBODY = 'nobody';

export const STATUSES: readonly ConversationStatus[] = ['OPEN', 'SNOOZED', 'CLOSED'];
export const CHANNELS = Object.keys(CHANNEL_LABELS) as Channel[];

/** The conversations that the list shows. */
export interface InboxFilter {
  view: View;
  status: ConversationStatus;
  channel: Channel | undefined;
}

const route = getRouteApi('/inside/w/$slug/inbox');

/** Returns the filter of the page's address. What the address leaves out, or misspells, has its default. */
export function useInboxFilter(): InboxFilter {
  const { view, status, channel } = route.useSearch();
  return useMemo(
    () => ({
      view: VIEWS.find((one) => one === view) ?? 'mine',
      status: STATUSES.find((one) => one === status) ?? 'OPEN',
      channel: CHANNELS.find((one) => one === channel),
    }),
    [view, status, channel],
  );
}

/** Returns the filter as it stands in an address. */
export function toSearch({ view, status, channel }: InboxFilter) {
  return {
    view,
    ...(status !== 'OPEN' && { status }),
    ...(channel && { channel }),
  };
}

/** Returns a function that tells which agent's conversations a view shows, as the server's list is asked. */
export function useAssigneeOf(): (view: View) => string | undefined {
  const { agentId } = useWorkspace();
  return (view) => ({ mine: agentId, nobody: NOBODY, all: undefined })[view];
}
