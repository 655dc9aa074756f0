import { useEffect } from 'react';
import { useAnnounce } from '../common/announcer';
import { hasFiles } from '../common/dropped-files';
import { useTexts } from '../i18n/locale';

/**
 * Announces that files are not accepted when one is dropped onto the page. Does nothing if an element marked
 * `data-says-no-files` says so itself.
 */
export function useDropRefusal(): void {
  const { frame } = useTexts();
  const announce = useAnnounce();
  useEffect(() => {
    const refuse = ({ dataTransfer }: DragEvent) => {
      if (hasFiles(dataTransfer) && !document.querySelector('[data-says-no-files]'))
        announce(frame.noFiles, 'refusal');
    };
    window.addEventListener('drop', refuse);
    return () => window.removeEventListener('drop', refuse);
  }, [announce, frame]);
}
