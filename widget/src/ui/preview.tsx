import type { Texts } from '../locales/en';
import { Avatar } from './avatar';
import { Icon } from './icons';

interface Props {
  name: string | null;
  body: string;
  texts: Texts;
  onOpen: () => void;
  onDismiss: () => void;
}

/** Draws the newest unread message above the launcher's button. It is used while the panel is closed. */
export function Preview({ name, body, texts, onOpen, onDismiss }: Props) {
  return (
    <div class="preview" role="status">
      <button type="button" class="answer" onClick={onOpen}>
        <span class="sender">
          <Avatar name={name} />
          <bdi>{name || texts.support}</bdi>
        </span>
        <span class="text" dir="auto">
          {body}
        </span>
      </button>
      <button
        type="button"
        class="close"
        aria-label={texts.dismiss}
        title={texts.dismiss}
        onClick={onDismiss}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
