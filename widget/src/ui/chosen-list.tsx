import { fill } from '../locales/locale';
import { Icon } from './icons';
import type { Actions, View } from './view';

/** Draws the files of the draft, each with a button to remove it. */
export function ChosenList({ view, actions }: { view: View; actions: Actions }) {
  const { texts } = view.locale;
  return (
    <ul class="chosen" aria-label={texts.files}>
      {view.chosen.map((file) => (
        <li key={file.key} class="chosen-file">
          {view.parts?.drawThumbnail(file)}
          <span class="file-name" dir="auto">
            {file.name}
          </span>
          <button
            type="button"
            class="remove"
            aria-label={fill(texts.removeFile, { name: file.name })}
            title={fill(texts.removeFile, { name: file.name })}
            onClick={() => actions.removeFile(file.key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
