import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import { fillName, Progress, Symbol } from './file-card';
import type { Pictures } from './pictures';
import { openViewer } from './viewer';

/** Maximum width and height of a picture in a message, in CSS pixels. */
const MAX_PX = 260;
/** Minimum width and height of the button, so that a narrow picture can be seen and touched. */
const MIN_PX = 64;
const THUMBNAIL_PX = 40;

interface Props {
  file: ItemFile;
  host: FileHost;
  pictures: Pictures;
}

/** Draws a picture in a message. The room is reserved before the picture is read. */
export function PictureView({ file, host, pictures }: Props) {
  const name = fillName(host.texts().showPicture, file);
  return (
    <button
      type="button"
      class="picture"
      ref={(button: HTMLElement | null) => void (button && reserveRoom(button, file))}
      aria-label={name}
      title={file.name}
      onClick={() => openViewer(host, pictures, file)}
    >
      <Canvas file={file} pictures={pictures} maxPx={MAX_PX} />
      <span class="file-name" dir="auto">
        {file.name}
      </span>
      <Progress file={file} host={host} />
    </button>
  );
}

/** Draws a chosen file's picture; the symbol of a file if it is no picture. */
export function Thumbnail({ file, pictures }: { file: ItemFile; pictures: Pictures }) {
  if (!pictures.canDraw(file)) return <Symbol kind={file.kind} />;
  return (
    <span class="thumbnail">
      <Canvas file={file} pictures={pictures} maxPx={THUMBNAIL_PX * 2} />
      <Symbol kind="IMAGE" />
    </span>
  );
}

/** Draws a canvas on which the picture appears, `maxPx` CSS pixels wide and high at most. */
function Canvas({ file, pictures, maxPx }: { file: ItemFile; pictures: Pictures; maxPx: number }) {
  const draw = (canvas: HTMLCanvasElement | null) => {
    if (canvas) pictures.drawInSight(canvas, { file, maxPixels: maxPx * devicePixelRatio });
  };
  return <canvas width={1} height={1} ref={draw} />;
}

/** Gives a picture's button its size. A picture of unknown size gets the room of a usual photograph. */
function reserveRoom(button: HTMLElement, { width, height }: ItemFile): void {
  const [across, down] = width && height ? [width, height] : [MAX_PX, MAX_PX * 0.75];
  const scale = Math.min(1, MAX_PX / across, MAX_PX / down);
  const clamped = (pixels: number) => Math.max(MIN_PX, Math.round(pixels * scale));
  button.style.width = `${clamped(across)}px`;
  button.style.aspectRatio = `${clamped(across)} / ${clamped(down)}`;
}
