import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog } from '../../common/dialogs';
import { lazyPart, usePreload } from '../../common/lazy-part';
import { ConversationList } from './list/conversation-list';
import { ConversationPane } from './conversation/conversation-pane';
import classes from './inbox.module.css';
import { AgentsProvider, useReadAgents } from './names';
import { NoConversation } from './no-conversation';
import { PresenceProvider } from './conversation/presence';
import { useBadge } from './alerts/unread-badge';
import { useAlerts } from './alerts/use-alerts';
import { useActivity } from './use-activity';
import { useKeys } from './use-keys';
import { useLiveInbox } from './live/use-live';
import { useResends } from './reply/use-resends';

const KeysDialog = lazyPart(() => import('./keys-dialog').then((module) => module.KeysDialog));

export function InboxPage() {
  const { conversationId } = useParams({ strict: false });
  const [showsKeys, setShowsKeys] = useState(false);
  usePreload(KeysDialog, Dialog);
  useActivity();
  useBadge();
  useAlerts();
  useLiveInbox();
  useResends();
  useKeys({ '?': () => setShowsKeys(true) });
  return (
    <AgentsProvider value={useReadAgents()}>
      <PresenceProvider>
        <div className={classes.inbox} data-open={conversationId !== undefined}>
          <ConversationList openId={conversationId} onShowKeys={() => setShowsKeys(true)} />
          {conversationId === undefined ? (
            <NoConversation />
          ) : (
            <ConversationPane key={conversationId} id={conversationId} />
          )}
          {showsKeys && <KeysDialog onClose={() => setShowsKeys(false)} />}
        </div>
      </PresenceProvider>
    </AgentsProvider>
  );
}
