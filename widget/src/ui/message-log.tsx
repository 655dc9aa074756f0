import { Component, createRef, type VNode } from 'preact';
import { onKeys } from './composition';
import { Icon } from './icons';
import { MessageView } from './message-view';
import type { Actions, View } from './view';

/** Maximum distance from the end of the log, in pixels, at which the log counts as scrolled to its end. */
const END_PX = 48;
const OLDER_PX = 120;
/** Milliseconds for which screen readers announce nothing after the history was drawn. */
const QUIET_MS = 500;
const LOOK_MS = 1000;

interface Props {
  view: View;
  actions: Actions;
}

interface State {
  hasNewBelow: boolean;
  /** Whether screen readers announce new messages; false until the history is drawn. */
  speaks: boolean;
}

export class MessageLog extends Component<Props, State> {
  override state: State = { hasNewBelow: false, speaks: false };
  private readonly log = createRef<HTMLDivElement>();
  private readonly content = createRef<HTMLDivElement>();
  /** Scrolls to the end again if the log or its content changes its height while the log is at its end. */
  private readonly observer = new ResizeObserver(() => this.isAtEnd && this.toEnd());
  /** Records whether the log is in the visible area of the browser, even if the page is in an iframe. */
  private readonly sight = new IntersectionObserver((entries) => {
    this.log.current!.dataset['inView'] = String(entries.at(-1)!.isIntersecting);
    this.props.actions.scrolled();
  });
  /** Checks every second whether an unread message is seen, because no event tells when it is uncovered. */
  private readonly look = setInterval(
    () => this.props.view.hasUnread && this.props.actions.scrolled(),
    LOOK_MS,
  );
  private isAtEnd = true;
  private isLoadingOlder = false;
  private speakTimer: ReturnType<typeof setTimeout> | undefined;

  override componentDidMount(): void {
    this.observer.observe(this.log.current!);
    this.observer.observe(this.content.current!);
    this.sight.observe(this.log.current!);
    // The observer scrolls to the end after layout. Scrolling here would force a second layout.
    this.setAtEnd(true);
    this.speakSoon();
  }

  override componentWillUnmount(): void {
    this.observer.disconnect();
    this.sight.disconnect();
    clearInterval(this.look);
    clearTimeout(this.speakTimer);
  }

  override getSnapshotBeforeUpdate(): number {
    const { scrollHeight, scrollTop } = this.log.current!;
    return scrollHeight - scrollTop;
  }

  override componentDidUpdate({ view: before }: Props, _state: State, fromEnd: number): void {
    const { items, isLoading } = this.props.view;
    const log = this.log.current!;
    const oldestBefore = before.items[0]?.key;
    const newest = items.at(-1);
    // Older messages that were added above must not move the messages that the visitor is reading.
    if (!this.isAtEnd && oldestBefore !== undefined && oldestBefore !== items[0]?.key)
      log.scrollTop = log.scrollHeight - fromEnd;
    if (newest?.key !== before.items.at(-1)?.key) {
      // The log scrolls to a message that the visitor has just sent.
      if (this.isAtEnd || newest?.state === 'sending') this.toEnd();
      else if (newest?.state === 'received') this.setState({ hasNewBelow: true });
    }
    if (before.isLoading && !isLoading) this.speakSoon();
  }

  override render({ view }: Props, { hasNewBelow, speaks }: State) {
    const { texts } = view.locale;
    const isEmpty = view.items.length === 0;
    return (
      <div class="log-frame">
        <div
          ref={this.log}
          class="log"
          role="log"
          tabIndex={0}
          aria-label={texts.messages}
          aria-live={speaks ? 'polite' : 'off'}
          aria-busy={view.isLoading}
          onScroll={this.onScroll}
          onKeyDown={this.onKeyDown}
        >
          <div ref={this.content} class="content">
            {view.isLoading && isEmpty && <p class="hint">{texts.loading}</p>}
            {view.hasOlder && (
              <button type="button" class="earlier" onClick={this.onEarlier}>
                {texts.earlier}
              </button>
            )}
            {!(view.isLoading && isEmpty) && !view.hasOlder && (
              <p class="welcome" dir="auto">
                {view.welcome}
              </p>
            )}
            {withDays(view, this.props.actions)}
            {view.typing && (
              <p class="typing" dir="auto">
                {view.typing}
              </p>
            )}
          </div>
        </div>
        {hasNewBelow && (
          <button type="button" class="below" onClick={this.onBelow}>
            <Icon name="down" />
            {texts.newMessages}
          </button>
        )}
      </div>
    );
  }

  private readonly toEnd = (): void => {
    const log = this.log.current!;
    log.scrollTop = log.scrollHeight;
    this.setAtEnd(true);
  };

  // The clicked button disappears, so the focus moves to the log first. Otherwise the focus would be lost.
  private readonly onBelow = (): void => {
    this.log.current!.focus();
    this.toEnd();
  };

  private readonly onEarlier = (): void => {
    this.log.current!.focus();
    this.loadOlder();
  };

  /** Moves the focus to the previous or next message's button with the arrow keys. */
  private readonly onKeyDown = onKeys((event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const buttons = [...this.log.current!.querySelectorAll<HTMLElement>('.more')];
    const at = buttons.indexOf(event.target as HTMLElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[at + step]?.focus();
  });

  private readonly onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.log.current!;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    if (isAtEnd !== this.isAtEnd) this.setAtEnd(isAtEnd);
    if (scrollTop < OLDER_PX) this.loadOlder();
  };

  private readonly loadOlder = (): void => {
    const { actions, view } = this.props;
    if (this.isLoadingOlder || !view.hasOlder) return;
    this.isLoadingOlder = true;
    this.setState({ speaks: false });
    void actions.loadOlder().then(() => {
      this.isLoadingOlder = false;
      this.speakSoon();
    });
  };

  private setAtEnd(isAtEnd: boolean): void {
    this.isAtEnd = isAtEnd;
    this.log.current!.dataset['atEnd'] = String(isAtEnd);
    if (isAtEnd && this.state.hasNewBelow) this.setState({ hasNewBelow: false });
    this.props.actions.scrolled();
  }

  private speakSoon(): void {
    clearTimeout(this.speakTimer);
    if (!this.props.view.isLoading)
      this.speakTimer = setTimeout(() => this.setState({ speaks: true }), QUIET_MS);
  }
}

/**
 * Draws the messages with a heading for each day. The time is shown once for consecutive messages of one
 * sender in the same minute.
 */
function withDays({ items, locale, isRefused, parts }: View, actions: Actions): VNode[] {
  const { dates, texts } = locale;
  const now = new Date();
  const newestOwn = items.findLast(({ changeId }) => changeId);
  const placed = items.map((item) => {
    const date = item.createdAt ? new Date(item.createdAt) : now;
    const day = dates.day(date, now);
    const time = item.createdAt ? dates.time(date) : '';
    const sender = item.state === 'received' ? `theirs ${item.senderName}` : 'mine';
    return { item, day, time, group: [day, time, sender, item.state === 'failed'].join('\n'), sender };
  });
  return placed.flatMap(({ item, day, time, group, sender }, index) => {
    const before = placed[index - 1];
    const isNewDay = day !== before?.day;
    const message = (
      <MessageView
        {...item}
        key={item.key}
        time={time}
        isRefused={isRefused}
        isFirstOfGroup={isNewDay || sender !== before?.sender}
        isReachable={item === newestOwn}
        isLastOfGroup={group !== placed[index + 1]?.group}
        texts={texts}
        parts={parts}
        actions={actions}
      />
    );
    if (!isNewDay) return [message];
    return [
      <p key={`day ${day}`} class="day">
        <span>{day}</span>
      </p>,
      message,
    ];
  });
}
