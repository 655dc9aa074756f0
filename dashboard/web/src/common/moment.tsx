import { Text, Tooltip } from '@mantine/core';
import { useFormats } from '../i18n/locale';
import { useNow } from './use-now';

/** Shows a time as its distance from now, and the exact time on hover and focus; or the other way round. */
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
  return (
    <Tooltip label={isExact ? distance : formats.moment(at)}>
      <time dateTime={at} style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
        {isExact ? formats.exact(at, now) : distance}
      </time>
    </Tooltip>
  );
}
