import { useTexts } from '../../../i18n/locale';
import classes from './draft-mark.module.css';

/** Says in the list that the person has a draft in a conversation. */
export function DraftMark() {
  const { inbox } = useTexts();
  return <span className={classes.draft}>{inbox.draft}</span>;
}
