import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import { measure } from './picture-size';

/** Maximum pixels of a picture that is decoded. A small file can have so many that the page would crash. */
const MAX_PIXELS = 50_000_000;
/** Number of pictures that are read and decoded at the same time. */
const AT_ONCE = 2;
/** Distance from the visible area, in pixels, at which a picture is read. */
const MARGIN_PX = 400;

interface Drawing {
  file: ItemFile;
  /** Maximum width and height of the drawing, in pixels of the screen. */
  maxPixels: number;
}

/**
 * Draws pictures on canvases. So the page's Content-Security-Policy needs no `img-src`, and a file that is no
 * picture, such as an SVG with a script, is never interpreted.
 */
export class Pictures {
  private readonly waiting: (() => Promise<void>)[] = [];
  private running = 0;
  private readonly drawings = new WeakMap<Element, Drawing>();
  private readonly sight = new IntersectionObserver((entries) => this.onSight(entries), {
    rootMargin: `${MARGIN_PX}px`,
  });

  constructor(private readonly host: FileHost) {}

  canDraw({ kind, width, height, state }: ItemFile): boolean {
    const isThere = state === 'ready' || state === 'unsent';
    return kind === 'IMAGE' && isThere && (width ?? 0) * (height ?? 0) <= MAX_PIXELS;
  }

  /** Draws a picture once its canvas is near the visible area. */
  drawInSight(canvas: HTMLCanvasElement, drawing: Drawing): void {
    if (this.drawings.has(canvas)) return;
    this.drawings.set(canvas, drawing);
    this.sight.observe(canvas);
  }

  /** Draws a picture, not larger than given. Marks the canvas's parent if the picture cannot be drawn. */
  async draw(canvas: HTMLCanvasElement, { file, maxPixels }: Drawing): Promise<void> {
    try {
      const blob = await this.host.read(file);
      const size = await measure(blob);
      if (!size || size.width * size.height > MAX_PIXELS) throw new Error('The picture is not drawn.');
      const scale = Math.min(1, maxPixels / Math.max(size.width, size.height));
      const resizeWidth = Math.max(1, Math.round(size.width * scale));
      const bitmap = await createImageBitmap(blob, { resizeWidth, resizeQuality: 'medium' });
      [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      canvas.getContext('2d')!.drawImage(bitmap, 0, 0);
      bitmap.close();
      canvas.dataset['drawn'] = '';
    } catch {
      canvas.parentElement?.classList.add('undrawn');
    }
  }

  private onSight(entries: IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.sight.unobserve(target);
      this.waiting.push(() => this.draw(target as HTMLCanvasElement, this.drawings.get(target)!));
    }
    this.next();
  }

  private next(): void {
    while (this.running < AT_ONCE && this.waiting.length > 0) {
      this.running += 1;
      void this.waiting.shift()!().finally(() => {
        this.running -= 1;
        this.next();
      });
    }
  }
}
