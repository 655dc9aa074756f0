import { Alert, Anchor, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../../api/client';
import type { Channel, Conversation, ReplyCheck } from '../../../api/types';
import { useMayManage, useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { useNow } from '../../../common/use-now';
import { useFormats, useTexts } from '../../../i18n/locale';

const REFRESH_MS = 60_000;
const MINUTE_MS = 60_000;

/** Reads whether a reply would reach the customer, again after each message and every minute. */
export function useReplyCheck({ id, lastMessageAt }: Conversation): ReplyCheck | undefined {
  const { id: workspaceId } = useWorkspace();
  return useQuery({
    queryKey: ['workspaces', workspaceId, 'inbox', 'reply-check', id, lastMessageAt],
    queryFn: ({ signal }) =>
      api.get<ReplyCheck>(`/workspaces/${workspaceId}/conversations/${id}/reply-check`, signal),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  }).data;
}

/**
 * Reports whether a reply would be useless. A reply without a connection to the channel is not useless,
 * because webhooks report it and the workspace's own server may deliver it.
 */
export function isUseless(check: ReplyCheck | undefined): boolean {
  const fault = check?.fault ?? null;
  return fault !== null && fault !== 'NO_CONNECTION';
}

/** Says why a reply would not reach the customer, or until when the channel accepts replies. */
export function ReplyNotice({ channel, check }: { channel: Channel; check: ReplyCheck | undefined }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const now = useNow(MINUTE_MS);
  const { slug } = useWorkspace();
  const mayManage = useMayManage();
  if (!check) return null;
  const label = CHANNEL_LABELS[channel];
  const { fault, window } = check;
  if (fault !== null) {
    const isOfConnection = fault === 'NO_CONNECTION' || fault === 'REAUTH_REQUIRED';
    return (
      <Alert
        color={fault === 'NO_CONNECTION' ? 'yellow' : isOfConnection ? 'red' : 'gray'}
        title={inbox.cannotReply[fault](label)}
        mb="xs"
      >
        {isOfConnection && mayManage ? (
          <Anchor
            inherit
            renderRoot={(props) => <Link {...props} to="/w/$slug/settings/channels" params={{ slug }} />}
          >
            {inbox.toChannels}
          </Anchor>
        ) : (
          inbox.cannotReplyAdvice[fault]
        )}
      </Alert>
    );
  }
  if (window === null) return null;
  const closesAt = window.status === 'open' ? Date.parse(window.closesAt) : 0;
  if (closesAt <= now) {
    return (
      <Alert color="yellow" title={inbox.windowClosed(label)} mb="xs">
        {inbox.windowClosedAdvice(label)}
      </Alert>
    );
  }
  return (
    <Text size="xs" c="dimmed" mb={4}>
      {inbox.windowCloses(
        label,
        formats.coming(new Date(closesAt).toISOString(), now),
        formats.minute(closesAt),
      )}
    </Text>
  );
}
