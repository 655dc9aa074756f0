import { type KeyboardEvent, type RefObject, useCallback, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { keyOf } from '../../../common/keys';
import type { Conversation, SavedReplyVariable } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { lazyPart, usePreload } from '../../../common/lazy-part';
import { useAgents } from '../names';
import { fillVariables, savedReplyQuery } from './saved-reply-text';
import type { TakeKey } from './saved-reply-list';

const SavedReplyList = lazyPart(() => import('./saved-reply-list').then((module) => module.SavedReplyList));

/**
 * Shows a list of saved replies while the person types a slash and a word at the beginning of a line.
 * @param onMissing receives the variables that have neither a value nor a default
 */
export function useSavedReplies({
  field,
  conversation,
  onChange,
  onMissing,
}: {
  field: RefObject<HTMLTextAreaElement | null>;
  conversation: Conversation;
  onChange: (text: string) => void;
  onMissing: (variables: string[]) => void;
}) {
  const id = useId();
  const [typed, setTyped] = useState<ReturnType<typeof savedReplyQuery>>(null);
  const [optionId, setOptionId] = useState<string>();
  const takesKeys = useRef<TakeKey | null>(null);
  const fill = useFill(conversation);
  const close = useCallback(() => setTyped(null), []);
  usePreload(SavedReplyList);

  const preview = (body: string) => fill(body).text;
  const choose = (body: string) => {
    const element = field.current;
    if (!typed || !element) return;
    const { text, missing } = fill(body);
    const { value } = element;
    flushSync(() => onChange(value.slice(0, typed.start) + text + value.slice(typed.end)));
    element.focus();
    element.setSelectionRange(typed.start + text.length, typed.start + text.length);
    close();
    onMissing(missing);
  };

  return {
    /** Opens the list if the caret's line begins with a slash, otherwise closes it. */
    look: ({ value, selectionEnd }: HTMLTextAreaElement) => setTyped(savedReplyQuery(value, selectionEnd)),
    /** Passes a key press to the list. Returns whether the list has used the key. */
    takeKey: (event: KeyboardEvent): boolean => {
      if (!typed || event.ctrlKey || event.metaKey || event.shiftKey) return false;
      if (!takesKeys.current?.(keyOf(event))) return false;
      event.preventDefault();
      return true;
    },
    close,
    fieldProps: typed && {
      'aria-autocomplete': 'list' as const,
      'aria-haspopup': 'listbox' as const,
      'aria-controls': id,
      'aria-activedescendant': optionId,
    },
    list: typed && (
      <SavedReplyList
        id={id}
        query={typed.query}
        preview={preview}
        takesKeys={takesKeys}
        onActive={setOptionId}
        onChoose={choose}
        onClose={close}
      />
    ),
  };
}

function useFill({ contact }: Conversation) {
  const { name: workspace, agentId } = useWorkspace();
  const agent = useAgents().find(({ id }) => id === agentId);
  const name = contact.name?.trim() ?? '';
  const values: Record<SavedReplyVariable, string> = {
    'contact.name': name,
    'contact.firstName': name.split(/\s+/)[0]!,
    'agent.name': agent?.displayName ?? agent?.name ?? '',
    'workspace.name': workspace,
  };
  return (body: string) => fillVariables(body, values);
}
