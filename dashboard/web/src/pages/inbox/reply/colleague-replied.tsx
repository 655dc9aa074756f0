import { Button, Group, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { useAgentName } from '../names';
import { useMessages } from '../use-inbox';
import type { Outgoing } from './use-sending';

export function ColleagueReplied({
  conversationId,
  message: { seenMessageId },
  onSend,
  onEdit,
}: {
  conversationId: string;
  message: Outgoing;
  /** Receives the id of the newest message that the person has now seen. */
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
          // Disabled until the colleague's reply is loaded, so that the person sees it first.
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

/** Moves the focus to the button with the returned ref, unless the person is writing something. */
function useFocusUnlessTyping() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    const isTyping = activeElement instanceof HTMLTextAreaElement && activeElement.value.trim() !== '';
    // Runs after each render, because the button is disabled until the colleague's reply is loaded.
    if (!isTyping) button.current?.focus();
  });
  return button;
}
