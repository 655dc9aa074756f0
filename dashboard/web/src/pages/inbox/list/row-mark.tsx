import type { LostStatus } from '../../../api/types';
import { useTexts } from '../../../i18n/locale';
import classes from './row-mark.module.css';

export type RowMarkOf = 'notSent' | LostStatus | 'draft';

/**
 * Says in the list that a conversation has a reply of the person that was not sent, one of anybody that was
 * not delivered, or perhaps not, or a draft.
 */
export function RowMark({ of }: { of: RowMarkOf }) {
  const { inbox } = useTexts();
  return (
    <span className={classes.mark} data-of={of}>
      {of === 'FAILED' || of === 'UNKNOWN' ? inbox.delivery[of] : inbox[of]}
    </span>
  );
}
