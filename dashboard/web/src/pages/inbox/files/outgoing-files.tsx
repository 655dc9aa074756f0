import type { ChosenFile } from '../reply/kept-replies';
import { FileIcon } from './file-icon';
import { useFileSize } from './file-size';
import classes from './files.module.css';

/** Shows the files of a message that is not sent yet. */
export function OutgoingFiles({ files }: { files: ChosenFile[] }) {
  const sizeOf = useFileSize();
  return (
    <ul className={classes.attachments}>
      {files.map(({ key, name, size, type, caption, upload }) => (
        <li key={key} className={classes.attachment}>
          <div className={classes.card} data-state="UNSENT">
            <FileIcon kind={upload?.kind} type={type} />
            <div className={classes.about}>
              <div className={classes.line}>
                <bdi className={classes.name} title={name}>
                  {name}
                </bdi>
                <span className={classes.size}>{sizeOf(size)}</span>
              </div>
            </div>
          </div>
          {caption.trim() !== '' && (
            <p className={classes.caption} dir="auto">
              {caption}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
