import type { ChatItem } from '../conversation/chat-items';
import type { Locale } from '../locales/locale';
import type { VisitorForm } from '../page-api';

/** Values that the panel shows. */
export interface View {
  locale: Locale;
  title: string;
  welcome: string;
  items: ChatItem[];
  isLoading: boolean;
  hasOlder: boolean;
  /** Whether there are answers that the visitor has not seen. */
  readonly hasUnread: boolean;
  notice: string | null;
  /** Whether an agent is there. */
  isOnline: boolean;
  /** Sentence that says who types; null if no agent types. */
  typing: string | null;
  canWrite: boolean;
  /** Whether the service takes no messages at the moment. */
  isRefused: boolean;
  /** Text that the visitor has typed and not sent, or saved, as it is at the moment. */
  readonly draft: string;
  /** Whether the text is a new one of a message that the service has. */
  readonly isEditing: boolean;
  /** Form to fill in before the first message; null if there is none. */
  form: VisitorForm | null;
  isFullScreen: boolean;
}

export interface Visitor {
  name?: string;
  email?: string;
}

/** Acts of the visitor in the panel. */
export interface Actions {
  close: () => void;
  /** Ends an edit, or else closes the chat. */
  escape: () => void;
  send: (body: string) => void;
  keepDraft: (body: string) => void;
  retry: (clientMessageId: string) => void;
  /** Lets the visitor write a new text of a message. */
  edit: (changeId: string, body: string) => void;
  /** Takes a message back. */
  remove: (changeId: string) => void;
  loadOlder: () => Promise<void>;
  /** Says that the chat takes no files. */
  refuseFiles: () => void;
  submitForm: (visitor: Visitor) => void;
  /** Called when the newest message may have come into view, or gone out of it. */
  scrolled: () => void;
}
