import { Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useFormats } from '../i18n/locale';
import { useNow } from './use-now';

const EVENTS = { hover: true, focus: true, touch: true };

/**
 * Shows a time as its distance from now. The exact time is read out with it, and seen on hover and focus. An
 * exact time has its distance on hover alone, because readers can work it out.
 */
export function Moment({
  at,
  none,
  isExact = false,
  mayBeAhead = false,
}: {
  at: string | null;
  none?: string;
  /** True in rows whose times a reader compares. */
  isExact?: boolean;
  /** True for an end, or a next time. Everything else has happened, even if the browser's clock is late. */
  mayBeAhead?: boolean;
}) {
  const formats = useFormats();
  const now = useNow();
  if (at === null) {
    return (
      <Text span inherit c="dimmed">
        {none ?? '–'}
      </Text>
    );
  }
  const distance = mayBeAhead && Date.parse(at) > now ? formats.coming(at, now) : formats.past(at, now);
  const exact = formats.moment(at);
  return (
    <Tooltip label={isExact ? distance : exact} events={EVENTS}>
      <time
        dateTime={at}
        {...(!isExact && { tabIndex: 0 })}
        style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
      >
        {isExact ? formats.exact(at, now) : distance}
        {!isExact && <VisuallyHidden>, {exact}</VisuallyHidden>}
      </time>
    </Tooltip>
  );
}
