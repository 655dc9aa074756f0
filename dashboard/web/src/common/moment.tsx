import { Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useFormats } from '../i18n/locale';
import { useNow } from './use-now';

const EVENTS = { hover: true, focus: true, touch: true };

/**
 * Shows a time as its distance from now, such as "3 minutes ago". The exact time appears on hover and focus,
 * and screen readers read it. With `isExact`, the exact time is shown and the distance appears on hover.
 */
export function Moment({
  at,
  none,
  isExact = false,
  mayBeAhead = false,
}: {
  at: string | null;
  none?: string;
  /** Whether to show the exact time, for rows whose times a person compares. */
  isExact?: boolean;
  /** Whether a future time is shown as such. If not, it is shown as now, because clocks may be slow. */
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
