import { useTexts } from '../../../i18n/locale';
import classes from './own-mark.module.css';

export type OwnMarkOf = 'notSent' | 'draft';

/** Says in the list that the person has a reply in a conversation that was not sent, or a draft. */
export function OwnMark({ of }: { of: OwnMarkOf }) {
  const { inbox } = useTexts();
  return (
    <span className={classes.mark} data-of={of}>
      {inbox[of]}
    </span>
  );
}
