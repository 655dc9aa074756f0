import { Text, Tooltip } from '@mantine/core';
import { useFormats } from '../i18n/locale';
import { useNow } from './use-now';

/** Shows a time as its distance from now, and the exact time on hover and focus. */
export function Moment({ at, none }: { at: string | null; none?: string }) {
  const formats = useFormats();
  const now = useNow();
  if (at === null) {
    return (
      <Text span inherit c="dimmed">
        {none ?? '–'}
      </Text>
    );
  }
  return (
    <Tooltip label={formats.moment(at)}>
      <time dateTime={at}>{formats.relative(at, now)}</time>
    </Tooltip>
  );
}
