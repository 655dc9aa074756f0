import { useEffect } from 'react';
import { useAnnounce } from '../common/announcer';
import { hasFiles } from '../common/dropped-files';
import { useTexts } from '../i18n/locale';

/** Announces that dropped files are not accepted, unless an element with `data-says-no-files` does so. */
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
