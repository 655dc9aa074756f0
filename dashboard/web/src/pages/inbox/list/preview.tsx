import { useTexts } from '../../../i18n/locale';
import classes from '../inbox.module.css';
import { useAgentName } from '../names';
import { CustomerText } from '../placeholders';
import own from './preview.module.css';

export function Preview({ text, senderAgentId }: { text: string | null; senderAgentId: string | null }) {
  const { inbox } = useTexts();
  const nameOf = useAgentName();
  return (
    <>
      {senderAgentId !== null && (
        <span className={own.sender}>
          <bdi>{nameOf(senderAgentId)}</bdi>
          {inbox.saidBy}
        </span>
      )}
      <bdi className={classes.preview}>
        {text === null ? inbox.noMessage : senderAgentId === null ? <CustomerText text={text} /> : text}
      </bdi>
    </>
  );
}
