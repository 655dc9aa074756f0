import type { ChatItem } from '../conversation/chat-items';
import type { FileParts } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import type { Locale } from '../locales/locale';
import type { VisitorForm } from '../page-api';

export interface View {
  locale: Locale;
  title: string;
  welcome: string;
  items: ChatItem[];
  isLoading: boolean;
  hasOlder: boolean;
  /** Whether there are messages of agents that the visitor has not seen. */
  readonly hasUnread: boolean;
  notice: string | null;
  /** Whether an agent is online and the connection works. */
  isOnline: boolean;
  /** Sentence that names the agent who is typing; null if no agent is typing. */
  typing: string | null;
  canWrite: boolean;
  /** Whether the service refuses the visitor at present, so that messages cannot be sent. */
  isRefused: boolean;
  /** Text of the input field: the new text of an edited message, or the draft. It is read at each access. */
  readonly draft: string;
  /** Files of the draft. They are read at each access. */
  readonly chosen: readonly ItemFile[];
  /** Functions that draw files; null until they are loaded. */
  parts: FileParts | null;
  /** Whether the text in the input field replaces the text of a stored message. */
  readonly isEditing: boolean;
  /** Form that the visitor fills in before the first message; null if the form is not shown. */
  form: VisitorForm | null;
  isFullScreen: boolean;
  /** Fills the box below the messages with a form for an e-mail address; null before the first message. */
  offerMail: ((box: HTMLElement | null) => void) | null;
}

export interface Visitor {
  name?: string;
  email?: string;
}

/** Functions that the panel calls when the visitor does something. */
export interface Actions {
  close: () => void;
  /** Ends an edit if there is one; otherwise closes the panel. */
  escape: () => void;
  send: (body: string) => void;
  keepDraft: (body: string) => void;
  retry: (clientMessageId: string) => void;
  /** Puts the text of a stored message into the input field, so that the visitor can change it. */
  edit: (changeId: string, body: string) => void;
  /** Deletes a message that the visitor has sent. */
  remove: (changeId: string) => void;
  loadOlder: () => Promise<void>;
  /** Adds files to the draft. */
  addFiles: (files: Iterable<File>) => void;
  removeFile: (fileId: string) => void;
  /** Deletes a message that was not sent yet. */
  cancel: (clientMessageId: string) => void;
  submitForm: (visitor: Visitor) => void;
  /** Called when the newest message may have become visible or invisible. */
  scrolled: () => void;
}
