import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTexts } from '../../i18n/locale';
import { ConversationList } from './conversation-list';
import { ConversationPane } from './conversation-pane';
import classes from './inbox.module.css';
import { KeysDialog } from './keys-dialog';
import { NoConversation } from './no-conversation';
import { PresenceProvider } from './presence';
import { useCounts } from './use-inbox';
import { useListKeys } from './use-keys';
import { useLiveInbox } from './use-live';

/** Page in which agents answer customers: the list of conversations, and the open one beside it. */
export function InboxPage() {
  const { conversationId } = useParams({ strict: false });
  const [showsKeys, setShowsKeys] = useState(false);
  const { mine } = useCounts().data ?? { mine: 0 };
  useTitle(mine);
  useLiveInbox();
  useListKeys(() => setShowsKeys(true));
  return (
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
  );
}

/** Names the page in the tab, with the number of the person's own open conversations. */
function useTitle(mine: number): void {
  const texts = useTexts();
  useEffect(() => {
    const count = mine > 0 ? `(${mine > 1_000 ? '1000+' : mine}) ` : '';
    document.title = `${count}${texts.inbox.title} · ${texts.frame.product}`;
  }, [mine, texts]);
}
