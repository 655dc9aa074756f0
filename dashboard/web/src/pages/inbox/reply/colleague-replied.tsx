import { Button, Group, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { useAgentName } from '../names';
import { useMessages } from '../use-inbox';
import type { Outgoing } from './use-sending';

/** Asks whether a reply is sent although a colleague has replied in the meantime. */
export function ColleagueReplied({
  conversationId,
  message: { seenMessageId },
  onSend,
  onEdit,
}: {
  conversationId: string;
  message: Outgoing;
  /** Gets the newest message that the person knows now. */
  onSend: (seenMessageId: string) => void;
  onEdit: () => void;
}) {
  const { inbox } = useTexts();
  const { agentId } = useWorkspace();
  const nameOf = useAgentName();
  const { items = [] } = useMessages(conversationId);
  const reply = items.find(
    ({ id, senderType, senderAgentId }) =>
      senderType !== 'CUSTOMER' && senderAgentId !== agentId && id > (seenMessageId ?? ''),
  );
  const [newest] = items;
  const send = useFocusUnlessTyping();
  return (
    <div role="alert">
      <Text size="xs">
        {inbox.colleagueReplied(reply?.senderAgentId ? nameOf(reply.senderAgentId) : inbox.unknownColleague)}
      </Text>
      <Group gap="xs" mt="xs" justify="flex-end">
        <Button
          ref={send}
          size="compact-xs"
          // The person sees the colleague's reply first.
          disabled={!reply}
          onClick={() => newest && onSend(newest.id)}
        >
          {inbox.sendAnyway}
        </Button>
        <Button size="compact-xs" variant="default" onClick={onEdit}>
          {inbox.edit}
        </Button>
      </Group>
    </div>
  );
}

/** Moves the focus to a button that appears, unless the person writes something else already. */
function useFocusUnlessTyping() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    const isTyping = activeElement instanceof HTMLTextAreaElement && activeElement.value.trim() !== '';
    // The button is not enabled yet while the colleague's reply is read.
    if (!isTyping) button.current?.focus();
  });
  return button;
}
