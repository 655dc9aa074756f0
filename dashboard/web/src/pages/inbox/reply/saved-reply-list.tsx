import { useEffect, useState } from 'react';
import type { Page, SavedReply } from '../../../api/types';
import { useRead } from '../../../api/workspace';
import listbox from '../../../common/listbox.module.css';
import { useTexts } from '../../../i18n/locale';
import classes from './saved-replies.module.css';

const SHOWN = 8;
const REFRESH_MS = 60_000;

/** Handles a key that is pressed in the field. Returns whether the list has used the key. */
export type TakeKey = (key: string) => boolean;

export function SavedReplyList({
  id,
  query,
  preview,
  onChoose,
  onClose,
  onActive,
  takesKeys,
}: {
  id: string;
  query: string;
  /** Replaces the variables in a text with their values. */
  preview: (body: string) => string;
  onChoose: (body: string) => void;
  onClose: () => void;
  /** Receives the id of the option that Enter would choose. */
  onActive: (optionId: string | undefined) => void;
  takesKeys: { current: TakeKey | null };
}) {
  const { inbox } = useTexts();
  const { data } = useRead<Page<SavedReply>>('saved-replies', {}, { refreshMs: REFRESH_MS });
  const found = data && search(data.data, query);
  const [moved, setMoved] = useState({ query, to: 0 });
  const count = found?.length ?? 0;
  const at = moved.query === query ? Math.min(moved.to, Math.max(0, count - 1)) : 0;
  const active = found?.[at];

  useEffect(() => {
    onActive(active && `${id}-${active.id}`);
    takesKeys.current = (key) => {
      if (key === 'Escape') onClose();
      else if (!active) return false;
      else if (key === 'ArrowDown') setMoved({ query, to: (at + 1) % count });
      else if (key === 'ArrowUp') setMoved({ query, to: (at + count - 1) % count });
      else if (key === 'Enter' || key === 'Tab') onChoose(active.body);
      else return false;
      return true;
    };
    return () => {
      takesKeys.current = null;
    };
  });

  if (!found) return null;
  return (
    <div className={classes.anchor}>
      <div className={`${listbox.popup} ${classes.popup}`}>
        {count === 0 && (
          <p className={listbox.none} role="status">
            {data.data.length === 0 ? inbox.saved.none : inbox.saved.noneFound}
          </p>
        )}
        <ul role="listbox" id={id} aria-label={inbox.saved.list} className={listbox.list}>
          {found.map((reply, index) => (
            <li
              key={reply.id}
              id={`${id}-${reply.id}`}
              role="option"
              aria-selected={index === at}
              className={listbox.option}
              // Keeps the focus in the field when the mouse is pressed on an option.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onChoose(reply.body)}
            >
              <bdi className={classes.name}>{reply.name}</bdi>
              <bdi className={classes.text}>{preview(reply.body)}</bdi>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Returns the 8 best matches: names that begin with the query, other names, then texts that contain it. */
function search(replies: SavedReply[], query: string): SavedReply[] {
  const wanted = query.toLocaleLowerCase();
  const rank = ({ name, body }: SavedReply) => {
    const at = name.toLocaleLowerCase().indexOf(wanted);
    if (at >= 0) return at === 0 ? 0 : 1;
    return body.toLocaleLowerCase().includes(wanted) ? 2 : 3;
  };
  return replies
    .map((reply) => ({ reply, order: rank(reply) }))
    .filter(({ order }) => order < 3)
    .sort((a, b) => a.order - b.order)
    .slice(0, SHOWN)
    .map(({ reply }) => reply);
}
