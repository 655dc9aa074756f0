import { Component, createRef, type TargetedEvent } from 'preact';
import { fill } from '../locales/locale';
import { ChosenList } from './chosen-list';
import { onKeys } from './composition';
import { Icon } from './icons';
import { countCharacters } from './text';
import type { Actions, View } from './view';

const MAX_CHARACTERS = 4096;
const SHOW_COUNT_FROM = MAX_CHARACTERS - 200;

interface Props {
  view: View;
  actions: Actions;
}

export class Composer extends Component<Props> {
  private readonly picker = createRef<HTMLInputElement>();

  override render({ view }: Props) {
    const { canWrite, draft: body, isEditing, chosen } = view;
    const { texts } = view.locale;
    const count = countNearLimit(body);
    const isTooLong = count > MAX_CHARACTERS;
    return (
      <form class="composer" onSubmit={this.onSubmit}>
        {isEditing && (
          <p class="editing">
            {texts.editing}
            <button type="button" class="retry" onClick={this.props.actions.escape}>
              {texts.cancel}
            </button>
          </p>
        )}
        {!isEditing && chosen.length > 0 && <ChosenList view={view} actions={this.props.actions} />}
        <input ref={this.picker} type="file" multiple hidden onChange={this.onPick} />
        <div class="field">
          {/* An invisible copy of the text, which makes the field as high as its text. */}
          <div class="mirror" aria-hidden="true">
            {`${body} `}
          </div>
          <textarea
            class="input"
            rows={1}
            dir="auto"
            aria-label={isEditing ? texts.editing : texts.message}
            aria-describedby={count > 0 ? 'count' : undefined}
            aria-invalid={isTooLong}
            placeholder={texts.placeholder}
            enterkeyhint="send"
            disabled={!canWrite}
            value={body}
            onInput={(event) => this.write(event.currentTarget.value)}
            onKeyDown={this.onKeyDown}
          />
        </div>
        {!isEditing && (
          <button
            type="button"
            class="attach"
            aria-label={texts.attach}
            title={texts.attach}
            disabled={!canWrite}
            onClick={() => this.picker.current!.click()}
          >
            <Icon name="attach" />
          </button>
        )}
        <button
          type="submit"
          class="send"
          aria-label={isEditing ? texts.save : texts.send}
          title={isEditing ? texts.save : texts.send}
          disabled={!this.canSend}
        >
          <Icon name="send" />
        </button>
        {count >= SHOW_COUNT_FROM && (
          <p id="count" class={isTooLong ? 'count error' : 'count'}>
            {fill(texts.count, { count, limit: MAX_CHARACTERS })}
          </p>
        )}
      </form>
    );
  }

  private get canSend(): boolean {
    const { canWrite, draft: body, chosen, isEditing } = this.props.view;
    const hasContent = body.trim() !== '' || (!isEditing && chosen.length > 0);
    return canWrite && hasContent && countNearLimit(body) <= MAX_CHARACTERS;
  }

  private write(body: string): void {
    this.props.actions.keepDraft(body);
    this.forceUpdate();
  }

  private readonly onSubmit = (event: Event): void => {
    event.preventDefault();
    if (!this.canSend) return;
    const { view, actions } = this.props;
    const { isEditing, draft } = view;
    actions.send(draft);
    // The draft of a new message is kept while the visitor edits an older one.
    if (!isEditing) this.write('');
  };

  private readonly onPick = ({ currentTarget }: TargetedEvent<HTMLInputElement>): void => {
    this.props.actions.addFiles([...currentTarget.files!]);
    // Otherwise the browser would not report it if the visitor chose the same file again.
    currentTarget.value = '';
  };

  private readonly onKeyDown = onKeys((event) => {
    if (event.key === 'Enter' && !event.shiftKey) this.onSubmit(event);
  });
}

/** Returns the number of characters; 0, without counting, if the number is too low to be shown. */
function countNearLimit(body: string): number {
  return body.length < SHOW_COUNT_FROM ? 0 : countCharacters(body);
}
