import { useEffect } from 'react';
import { useAnnounce } from '../common/announcer';
import { hasFiles } from '../common/dropped-files';
import { useTexts } from '../i18n/locale';

/** Announces that dropped files are not accepted, unless an element of the page says so or takes them. */
export function useDropRefusal(): void {
  const { frame } = useTexts();
  const announce = useAnnounce();
  useEffect(() => {
    const refuse = ({ dataTransfer }: DragEvent) => {
      const isAnswered = document.querySelector('[data-says-no-files], [data-takes-files]') !== null;
      if (hasFiles(dataTransfer) && !isAnswered) announce(frame.noFiles, 'refusal');
    };
    window.addEventListener('drop', refuse);
    return () => window.removeEventListener('drop', refuse);
  }, [announce, frame]);
}
