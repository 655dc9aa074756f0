import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import { onKeys } from '../ui/composition';
import { fillName } from './file-card';
import type { Pictures } from './pictures';
import { saveFile } from './use-file';

/** Maximum width and height of a shown picture, in pixels of the screen. */
const MAX_PIXELS = 4096;

/**
 * Shows a picture over the whole page, until the visitor closes it.
 *
 * @param opener element that gets the focus afterwards
 */
export function openViewer(host: FileHost, pictures: Pictures, file: ItemFile, opener: HTMLElement): void {
  const texts = host.texts();
  const canvas = document.createElement('canvas');
  const viewer = document.createElement('div');
  const save = button(fillName(texts.saveFile, file), '↓', () => void saveFile(host, file, viewer));
  const close = button(texts.cancel, '×', () => end());
  const buttons = file.state === 'ready' ? [save, close] : [close];
  const onKeyDown = onKeys((event: KeyboardEvent) => {
    if (event.key === 'Escape') end();
    if (event.key !== 'Tab') return;
    event.preventDefault();
    const at = buttons.indexOf(host.shadow.activeElement as HTMLButtonElement);
    buttons[(at + 1) % buttons.length]!.focus();
  });
  viewer.className = 'root viewer';
  viewer.role = 'dialog';
  viewer.ariaModal = 'true';
  viewer.ariaLabel = file.name;
  canvas.role = 'img';
  canvas.ariaLabel = file.name;
  const name = document.createElement('p');
  name.className = 'file-name';
  name.dir = 'auto';
  name.textContent = file.name;
  const error = document.createElement('p');
  error.className = 'card-error';
  error.role = 'status';
  viewer.append(canvas, name, error, ...buttons);
  // The page's handlers could run shortcuts, and the panel would close at Escape.
  for (const type of [
    'keydown',
    'keypress',
    'keyup',
    'wheel',
    'touchmove',
    'pointerdown',
    'mousedown',
    'focusin',
  ])
    viewer.addEventListener(type, (event) => event.stopPropagation(), { passive: true });
  viewer.addEventListener('keydown', onKeyDown);
  viewer.addEventListener('click', ({ target }) => (target === viewer || target === canvas) && end());
  host.shadow.append(viewer);
  close.focus();
  const maxPixels = Math.min(MAX_PIXELS, Math.max(innerWidth, innerHeight) * devicePixelRatio * 2);
  void pictures.draw(canvas, { file, maxPixels });

  function end(): void {
    viewer.remove();
    opener.focus();
  }
}

function button(label: string, text: string, onClick: () => void): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'viewer-button';
  element.ariaLabel = element.title = label;
  element.textContent = text;
  element.addEventListener('click', onClick);
  return element;
}
