import type { Recovery } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';

/** Returns a function that writes a recovery's total, with "more than" if the server stopped counting. */
export function useTotalFormat(): (recovery: Recovery) => string {
  const texts = useTexts();
  const formats = useFormats();
  return ({ total, isTotalComplete }) =>
    isTotalComplete ? formats.number(total) : texts.recoveries.moreThan(formats.number(total));
}
