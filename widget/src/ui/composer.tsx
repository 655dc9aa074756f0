import { useState } from 'preact/hooks';
import { plural } from '../locales/locale';
import { Icon } from './icons';
import { countCharacters } from './text';
import type { Actions, View } from './view';

const MAX_CHARACTERS = 4096;
const SHOW_COUNT_FROM = MAX_CHARACTERS - 200;

export function Composer({ view, actions }: { view: View; actions: Actions }) {
  const [body, setBody] = useState(view.draft);
  const { locale, canWrite } = view;
  const { texts } = locale;
  // Counting is only worth it near the limit: no text has more characters than code units.
  const count = body.length < SHOW_COUNT_FROM ? 0 : countCharacters(body);
  const isTooLong = count > MAX_CHARACTERS;
  const canSend = canWrite && body.trim() !== '' && !isTooLong;

  const write = (text: string) => {
    setBody(text);
    actions.keepDraft(text);
  };
  const send = () => {
    if (!canSend) return;
    actions.send(body);
    write('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also chooses a word in an input method; Safari reports that as key code 229.
    const isComposing = event.isComposing || event.keyCode === 229;
    if (event.key !== 'Enter' || event.shiftKey || isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="field">
        {/* The same text again, invisible: the field is as high as its text. */}
        <div class="mirror" aria-hidden="true">
          {`${body} `}
        </div>
        <textarea
          class="input"
          rows={1}
          dir="auto"
          aria-label={texts.message}
          aria-describedby={count > 0 ? 'count' : undefined}
          aria-invalid={isTooLong}
          placeholder={texts.placeholder}
          enterkeyhint="send"
          disabled={!canWrite}
          value={body}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <button type="submit" class="send" aria-label={texts.send} title={texts.send} disabled={!canSend}>
        <Icon name="send" />
      </button>
      {count >= SHOW_COUNT_FROM && (
        <p id="count" class={isTooLong ? 'count error' : 'count'}>
          {isTooLong
            ? plural(locale, texts.tooLong, count - MAX_CHARACTERS)
            : plural(locale, texts.charactersLeft, MAX_CHARACTERS - count)}
        </p>
      )}
    </form>
  );
}
