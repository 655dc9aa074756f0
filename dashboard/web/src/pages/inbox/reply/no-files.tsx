import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { hasFiles } from '../../../common/dropped-files';
import { useTexts } from '../../../i18n/locale';

const SHOWN_MS = 8_000;

/** Says for 8 seconds that files are not accepted, when one is dropped onto the page or pasted. */
export function NoFiles() {
  const { inbox } = useTexts();
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    const refuse = () => setRefusals((count) => count + 1);
    const onDrop = ({ dataTransfer }: DragEvent) => hasFiles(dataTransfer) && refuse();
    // A text copied from a word processor comes with a picture, but the browser pastes only the text.
    const onPaste = ({ clipboardData: data }: ClipboardEvent) =>
      hasFiles(data) && !data!.types.includes('text/plain') && refuse();
    window.addEventListener('drop', onDrop);
    window.addEventListener('paste', onPaste);
    return () => {
      window.removeEventListener('drop', onDrop);
      window.removeEventListener('paste', onPaste);
    };
  }, []);
  useEffect(() => {
    if (refusals === 0) return;
    const timer = setTimeout(() => setRefusals(0), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [refusals]);
  return (
    <Text data-says-no-files size="xs" role="status" c="var(--mantine-color-yellow-light-color)">
      {refusals > 0 && inbox.noFiles}
    </Text>
  );
}
