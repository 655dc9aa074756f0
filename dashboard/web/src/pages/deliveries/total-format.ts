import type { Recovery } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';

/** Returns a function that writes the total of a recovery, or that it is more than was counted. */
export function useTotalFormat(): (recovery: Recovery) => string {
  const texts = useTexts();
  const formats = useFormats();
  return ({ total, isTotalComplete }) =>
    isTotalComplete ? formats.number(total) : texts.recoveries.moreThan(formats.number(total));
}
