import type { ChatItem } from '../conversation/chat-items';
import type { Locale } from '../locales/locale';
import type { VisitorForm } from '../page-api';

/** All that the panel shows. */
export interface View {
  /** Of whom: another one's panel begins anew. */
  owner: string;
  locale: Locale;
  title: string;
  welcome: string;
  items: ChatItem[];
  isLoading: boolean;
  hasOlder: boolean;
  notice: string | null;
  canWrite: boolean;
  /** What was being written when the panel was closed. */
  draft: string;
  /** To be filled in before the first message. */
  form: VisitorForm | null;
  isFullScreen: boolean;
}

export interface Visitor {
  name?: string;
  email?: string;
}

/** What the visitor can do in the panel. */
export interface Actions {
  close: () => void;
  send: (body: string) => void;
  keepDraft: (body: string) => void;
  retry: (clientMessageId: string) => void;
  loadOlder: () => Promise<void>;
  submitForm: (visitor: Visitor) => void;
  /** The newest message came into view, or went out of it. */
  scrolled: () => void;
}
