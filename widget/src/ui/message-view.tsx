import { Component } from 'preact';
import type { ChatItem } from '../conversation/chat-items';
import type { FileParts } from '../files/file-parts-contract';
import { MAX_FILE_MEBIBYTES } from '../files/chosen-files';
import { toJson } from '../json';
import { fill } from '../locales/locale';
import type { Texts } from '../locales/en';
import { Avatar } from './avatar';
import { Icon } from './icons';
import { partsOf } from './text';
import type { Actions } from './view';

interface Props extends Omit<ChatItem, 'key'> {
  isFirstOfGroup: boolean;
  isLastOfGroup: boolean;
  /** Whether Tab reaches this message's button. Arrow keys move the focus to the other messages' buttons. */
  isReachable: boolean;
  time: string;
  /** Whether the service refuses the visitor at present, so that messages cannot be sent. */
  isRefused: boolean;
  texts: Texts;
  /** Functions that draw files; null until they are loaded. */
  parts: FileParts | null;
  actions: Actions;
}

interface State {
  /** Whether the buttons to edit and delete the message are shown. */
  isOpen: boolean;
}

/** Draws a message. It redraws only on changes, because a conversation may have a thousand messages. */
export class MessageView extends Component<Props, State> {
  override state: State = { isOpen: false };

  override shouldComponentUpdate(next: Props, { isOpen }: State): boolean {
    const names = Object.keys(next) as (keyof Props)[];
    return isOpen !== this.state.isOpen || names.some((name) => !isSame(next[name], this.props[name]));
  }

  override render(props: Props, { isOpen }: State) {
    const {
      id,
      state,
      body,
      files,
      changeId,
      isEdited,
      createdAt,
      senderName,
      time,
      isFirstOfGroup,
      isLastOfGroup,
      isReachable,
      texts,
      parts,
      actions,
    } = props;
    const isDeleted = body === '' && files.length === 0;
    const isReceived = state === 'received';
    return (
      <div
        class={`message ${isReceived ? 'theirs' : 'mine'} ${isFirstOfGroup ? 'first' : ''}`}
        data-message={id}
        data-state={state}
      >
        <p class={isReceived && isFirstOfGroup ? 'sender' : 'sender unseen'}>
          {isReceived && <Avatar name={senderName} />}
          {isReceived ? <bdi>{senderName || texts.support}</bdi> : texts.you}
        </p>
        {files.length > 0 &&
          (parts?.drawFiles(files) ?? (
            <p class="bubble" dir="auto">
              {files.map(({ name }) => name).join('\n')}
            </p>
          ))}
        <div class="line">
          {changeId && (
            <button
              type="button"
              class="more"
              tabIndex={isReachable ? 0 : -1}
              aria-expanded={isOpen}
              aria-label={texts.more}
              title={texts.more}
              onClick={this.toggle}
            >
              <Icon name="more" />
            </button>
          )}
          {(body !== '' || isDeleted) && (
            <p class={isDeleted ? 'bubble deleted' : 'bubble'} dir="auto">
              {isDeleted && texts.deleted}
              {partsOf(body).map(({ text, href }) =>
                href ? (
                  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                    {text}
                  </a>
                ) : (
                  text
                ),
              )}
            </p>
          )}
        </div>
        {changeId && isOpen && (
          <p class="changes" aria-live="off">
            {body !== '' && (
              <button
                type="button"
                class="retry"
                onClick={() => this.change(() => actions.edit(changeId, body))}
              >
                {texts.edit}
              </button>
            )}
            <button type="button" class="retry" onClick={() => this.change(() => actions.remove(changeId))}>
              {texts.remove}
            </button>
          </p>
        )}
        <p class={isLastOfGroup || isEdited ? 'meta' : 'meta unseen'}>
          {createdAt && <time dateTime={createdAt}>{time}</time>}
          {isEdited && <span class="status">{texts.edited}</span>}
          {!isReceived && <span class="status">{this.status()}</span>}
          {state === 'failed' && (
            <button type="button" class="retry" onClick={() => actions.retry(id)}>
              {texts.tryAgain}
            </button>
          )}
          {!createdAt && files.length > 0 && (
            <button type="button" class="retry" onClick={() => actions.cancel(id)}>
              {texts.cancel}
            </button>
          )}
        </p>
      </div>
    );
  }

  private readonly toggle = (): void => this.setState(({ isOpen }) => ({ isOpen: !isOpen }));

  private change(act: () => void): void {
    this.setState({ isOpen: false });
    act();
  }

  private status(): string {
    const { state, files, problem, isRead, isRefused, texts } = this.props;
    if (state === 'sending') return isRefused ? texts.notSent : texts.sending;
    if (state === 'failed') {
      if (!problem) return texts.notSent;
      const name = files.map((file) => file.name).join(', ');
      return `${texts.notSent}. ${fill(texts[problem], { name, limit: MAX_FILE_MEBIBYTES })}`;
    }
    return isRead ? texts.read : texts.sent;
  }
}

/** Compares two properties. Lists of files are compared by content, as each drawing makes new ones. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && toJson(one) === toJson(other));
}
