import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ChosenFile } from '../reply/kept-replies';
import { readBytes } from './file-bytes';
import classes from './files.module.css';

const DRAWN = /^image\/(?:jpeg|png|gif|webp|avif|bmp)$/;
/** Largest picture, in bytes, that the page decodes for its small one. */
const MAX_BYTES = 30 * 1024 * 1024;
const EDGE = 96;

/** Draws a chosen picture small; shows the fallback if it is none, or if the browser can't decode it. */
export function Thumbnail({ file, fallback }: { file: ChosenFile; fallback: ReactNode }) {
  const { key, type, size } = file;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const mayDraw = DRAWN.test(type) && size > 0 && size <= MAX_BYTES;
  useEffect(() => {
    if (!mayDraw) return undefined;
    let isGone = false;
    const draw = async () => {
      const bytes = await readBytes(key);
      if (!bytes || isGone) return;
      // The page's policy allows no pictures from addresses of blobs, and a canvas needs none.
      const picture = await createImageBitmap(bytes, { resizeHeight: EDGE, resizeQuality: 'medium' });
      const context = canvas.current?.getContext('2d');
      if (context && !isGone) {
        const scale = Math.max(EDGE / picture.width, EDGE / picture.height);
        const [width, height] = [picture.width * scale, picture.height * scale];
        context.drawImage(picture, (EDGE - width) / 2, (EDGE - height) / 2, width, height);
        setDrawn(true);
      }
      picture.close();
    };
    draw().catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [key, mayDraw]);
  return (
    <>
      {mayDraw && (
        <canvas
          ref={canvas}
          width={EDGE}
          height={EDGE}
          className={classes.thumbnail}
          hidden={!isDrawn}
          aria-hidden
        />
      )}
      {!isDrawn && fallback}
    </>
  );
}
