import { Component } from 'preact';
import type { ChatItem } from '../conversation/chat-items';
import type { Texts } from '../locales/en';
import { Avatar } from './avatar';
import { partsOf } from './text';

interface Props extends Omit<ChatItem, 'key'> {
  isFirstOfGroup: boolean;
  isLastOfGroup: boolean;
  time: string;
  /** Whether the service takes no messages at the moment. */
  isRefused: boolean;
  texts: Texts;
  onRetry: (clientMessageId: string) => void;
}

/** Draws one message, again only when it has changed: a conversation may have a thousand messages. */
export class MessageView extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== this.props[name]);
  }

  override render(props: Props) {
    const { id, state, body, createdAt, senderName, time, isFirstOfGroup, isLastOfGroup, texts } = props;
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
        <p class="bubble" dir="auto">
          {body === '' && texts.deleted}
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
        <p class={isLastOfGroup ? 'meta' : 'meta unseen'}>
          {createdAt && <time dateTime={createdAt}>{time}</time>}
          {!isReceived && <span class="status">{this.status()}</span>}
          {state === 'failed' && (
            <button type="button" class="retry" onClick={() => props.onRetry(id)}>
              {texts.tryAgain}
            </button>
          )}
        </p>
      </div>
    );
  }

  private status(): string {
    const { state, isRead, isRefused, texts } = this.props;
    if (state === 'sending') return isRefused ? texts.notSent : texts.sending;
    if (state === 'failed') return texts.notSent;
    return isRead ? texts.read : texts.sent;
  }
}
