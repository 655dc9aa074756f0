import type { Recovery } from '../../api/types';
import { useFormats, useTexts } from '../../i18n/locale';

/**
 * Returns a function that writes how many deliveries a recovery makes: a number, or "more than" the number up
 * to which the server counted.
 */
export function useTotalFormat(): (recovery: Recovery) => string {
  const texts = useTexts();
  const formats = useFormats();
  return ({ total, isTotalComplete }) =>
    isTotalComplete ? formats.number(total) : texts.recoveries.moreThan(formats.number(total));
}
