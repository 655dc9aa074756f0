import { useFormats } from '../../../i18n/locale';

const UNITS = ['B', 'kB', 'MB'];
const STEP = 1024;

/** Returns a function that writes a number of bytes, such as `1.4 MB`. */
export function useFileSize(): (bytes: number) => string {
  const { number } = useFormats();
  return (bytes) => {
    const unit = bytes < STEP ? 0 : bytes < STEP * STEP ? 1 : 2;
    const value = bytes / STEP ** unit;
    return `${number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))} ${UNITS[unit]}`;
  };
}
