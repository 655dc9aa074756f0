import type { LostStatus } from '../../../api/types';
import { useTexts } from '../../../i18n/locale';
import classes from './row-mark.module.css';

export type RowMarkOf = 'notSent' | LostStatus | 'draft';

/** Shows a mark in a row of the list: a draft, an unsent reply, or a reply that may not have arrived. */
export function RowMark({ of }: { of: RowMarkOf }) {
  const { inbox } = useTexts();
  return (
    <span className={classes.mark} data-of={of}>
      {of === 'FAILED' || of === 'UNKNOWN' ? inbox.delivery[of] : inbox[of]}
    </span>
  );
}
