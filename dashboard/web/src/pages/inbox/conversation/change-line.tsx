import { memo } from 'react';
import type { ConversationChange } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useFormats, useTexts } from '../../../i18n/locale';
import classes from '../inbox.module.css';
import { useAgentName } from '../names';

export const ChangeLine = memo(function ChangeLine({ change }: { change: ConversationChange }) {
  const formats = useFormats();
  const text = useChangeText(change);
  return (
    <div className={classes.change}>
      <bdi>{text}</bdi>
      <time dateTime={change.createdAt} title={formats.moment(change.createdAt)}>
        {formats.time(change.createdAt)}
      </time>
    </div>
  );
});

function useChangeText({
  actorType,
  actorId,
  actorName,
  before,
  after,
  createdAt,
}: ConversationChange): string {
  const { inbox } = useTexts();
  const formats = useFormats();
  const { agentId } = useWorkspace();
  const nameOf = useAgentName();
  const isMine = actorType === 'agent' && actorId === agentId;
  const actors = {
    agent: () => (isMine ? inbox.by.you : inbox.by.agent(actorName ?? nameOf(actorId ?? ''))),
    api_key: () => inbox.by.api_key(actorName),
    operator: () => inbox.by.operator,
    system: () => inbox.by.system,
  };
  const by = actors[actorType]();
  if ('snoozedUntil' in after && after.snoozedUntil)
    return inbox.changed.snoozedUntil(formats.minute(after.snoozedUntil), by);
  if ('status' in after) {
    if (after.status !== 'OPEN' || actorType !== 'system') return inbox.changed[after.status](by);
    const snoozedUntil = 'snoozedUntil' in before ? before.snoozedUntil : null;
    const hasEnded = snoozedUntil != null && snoozedUntil <= createdAt;
    return hasEnded ? inbox.changed.snoozeEnded : inbox.changed.reopenedByCustomer;
  }
  if ('snoozedUntil' in after) return inbox.changed.SNOOZED(by);
  if (after.assignedAgentId === null) return inbox.changed.unassigned(by);
  if (actorType === 'agent' && after.assignedAgentId === actorId) return inbox.changed.taken(by);
  const isToMe = after.assignedAgentId === agentId;
  return inbox.changed.assigned(isToMe ? inbox.changed.toYou : nameOf(after.assignedAgentId), by);
}
