import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons';
import { MessageView } from './message-view';
import type { Actions, View } from './view';

/** So near to the end still counts as the end. */
const END_PX = 48;
const OLDER_PX = 120;

export function MessageLog({ view, actions }: { view: View; actions: Actions }) {
  const log = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isLoadingOlder = useRef(false);
  const [hasNewBelow, setHasNewBelow] = useState(false);
  const [speaks, setSpeaks] = useState(false);
  const { texts } = view.locale;
  const { items } = view;
  const newest = items.at(-1);

  const setAtEnd = (value: boolean) => {
    isAtEnd.current = value;
    log.current!.dataset['atEnd'] = String(value);
    if (value) setHasNewBelow(false);
    actions.scrolled();
  };
  const toEnd = () => {
    log.current!.scrollTop = log.current!.scrollHeight;
    setAtEnd(true);
  };

  const loadOlder = async () => {
    if (isLoadingOlder.current || !view.hasOlder) return;
    isLoadingOlder.current = true;
    setSpeaks(false);
    await actions.loadOlder();
    isLoadingOlder.current = false;
  };

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = log.current!;
    const atEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    if (atEnd !== isAtEnd.current) setAtEnd(atEnd);
    if (scrollTop < OLDER_PX) void loadOlder();
  };

  useKeptPosition(log, items[0]?.key);

  // A message that the visitor writes is always shown; another one, if they are at the end.
  useLayoutEffect(() => {
    if (isAtEnd.current || newest?.state === 'sending') toEnd();
    else if (newest?.state === 'received') setHasNewBelow(true);
  }, [newest?.key]);

  // The end stays in view when messages get their real height, or the composer grows.
  useEffect(() => {
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    observer.observe(log.current!);
    observer.observe(content.current!);
    return () => observer.disconnect();
  }, []);

  // Screen readers say what comes, not what was there.
  useEffect(() => {
    if (view.isLoading) return;
    const timer = setTimeout(() => setSpeaks(true), 500);
    return () => clearTimeout(timer);
  }, [view.isLoading, items[0]?.key]);

  return (
    <div class="log-frame">
      <div
        ref={log}
        class="log"
        role="log"
        tabIndex={0}
        aria-label={texts.messages}
        aria-live={speaks ? 'polite' : 'off'}
        aria-busy={view.isLoading}
        onScroll={onScroll}
      >
        <div ref={content} class="content">
          {view.isLoading && items.length === 0 && <p class="hint">{texts.loading}</p>}
          {view.hasOlder && (
            <button type="button" class="earlier" onClick={() => void loadOlder()}>
              {texts.earlier}
            </button>
          )}
          {!view.isLoading && !view.hasOlder && (
            <p class="welcome" dir="auto">
              {view.welcome}
            </p>
          )}
          {withDays(view, actions)}
        </div>
      </div>
      {hasNewBelow && (
        <button type="button" class="below" onClick={toEnd}>
          <Icon name="down" />
          {texts.newMessages}
        </button>
      )}
    </div>
  );
}

/** What the visitor reads stays where it is when older messages come in above it. */
function useKeptPosition(log: { current: HTMLDivElement | null }, oldestKey: string | undefined): void {
  const before = useRef<{ key: string | undefined; fromEnd: number }>({ key: oldestKey, fromEnd: 0 });
  const element = log.current;
  if (element && before.current.key === oldestKey)
    before.current.fromEnd = element.scrollHeight - element.scrollTop;
  useLayoutEffect(() => {
    const { key, fromEnd } = before.current;
    if (key !== undefined && key !== oldestKey) log.current!.scrollTop = log.current!.scrollHeight - fromEnd;
    before.current.key = oldestKey;
  }, [oldestKey]);
}

function withDays({ items, dates, locale }: View, actions: Actions): VNode[] {
  const now = new Date();
  let dayBefore = '';
  return items.flatMap((item, index) => {
    const day = dates.day(item.createdAt ? new Date(item.createdAt) : now, now);
    const isNewDay = day !== dayBefore;
    dayBefore = day;
    const previous = items[index - 1];
    const isFirstOfGroup =
      isNewDay ||
      (previous?.state === 'received') !== (item.state === 'received') ||
      previous?.senderName !== item.senderName;
    const message = (
      <MessageView
        {...item}
        key={item.key}
        isFirstOfGroup={isFirstOfGroup}
        time={item.createdAt ? dates.time(new Date(item.createdAt)) : ''}
        texts={locale.texts}
        onRetry={actions.retry}
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
