import type { FileHost, FileParts, FilePartsModule } from '../files/file-parts-contract';
import { FileCard } from './file-card';
import styles from './files.css?inline';
import { measure } from './picture-size';
import { PictureView, Thumbnail } from './picture-view';
import { Pictures } from './pictures';
import { setH } from './jsx-runtime';

/** Creates the parts. The app calls it once. */
export const createFileParts: FilePartsModule['createFileParts'] = (host: FileHost): FileParts => {
  setH(host.h);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  const pictures = new Pictures(host);
  return {
    measure,
    styles: sheet,
    drawFiles: (files) => (
      <ul class="files" aria-label={host.texts().files}>
        {files.map((file) => (
          <li key={file.key}>
            {pictures.canDraw(file) ? (
              <PictureView file={file} host={host} pictures={pictures} />
            ) : (
              <FileCard file={file} host={host} />
            )}
          </li>
        ))}
      </ul>
    ),
    drawThumbnail: (file) => <Thumbnail file={file} pictures={pictures} />,
  };
};
