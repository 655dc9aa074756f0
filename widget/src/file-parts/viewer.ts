import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import { fillName } from './file-card';
import type { Pictures } from './pictures';
import { saveFile } from './use-file';

/** Maximum width and height of a shown picture, in pixels of the screen. */
const MAX_PIXELS = 4096;

/** Shows a picture over the whole page, until the visitor closes it. The focus goes back to where it was. */
export function openViewer(host: FileHost, pictures: Pictures, file: ItemFile): void {
  const texts = host.texts();
  const canvas = make('canvas', { role: 'img', ariaLabel: file.name });
  const viewer = make('dialog', { className: 'root viewer', ariaLabel: file.name });
  viewer.append(
    canvas,
    make('p', { className: 'file-name', dir: 'auto', textContent: file.name }),
    make('p', { className: 'card-error', role: 'status' }),
    makeButton(texts.cancel, '×', () => viewer.close()),
  );
  if (file.state === 'ready')
    viewer.append(makeButton(fillName(texts.saveFile, file), '↓', () => void saveFile(host, file, viewer)));
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
  viewer.onclick = ({ target }) => (target === viewer || target === canvas) && viewer.close();
  viewer.onclose = () => viewer.remove();
  host.shadow.append(viewer);
  viewer.showModal();

  const maxPixels = Math.min(MAX_PIXELS, Math.max(innerWidth, innerHeight) * devicePixelRatio * 2);
  void pictures.draw(canvas, { file, maxPixels });
}

function makeButton(label: string, textContent: string, onclick: () => void): HTMLButtonElement {
  return make('button', { className: 'viewer-button', ariaLabel: label, title: label, textContent, onclick });
}

function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties);
}
