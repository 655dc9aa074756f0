import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';

/** Milliseconds after which the address of a saved file ends. The browser has begun to save it by then. */
const SAVED_MS = 60_000;

/**
 * Saves a file under its name. The browser never shows the file, whatever its type is.
 *
 * @param element card or picture, which shows that the file could not be read
 */
export async function saveFile(host: FileHost, file: ItemFile, element: HTMLElement): Promise<void> {
  const blob = await readFor(host, file, element);
  if (!blob) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}

/**
 * Adds a player to a card. If the browser cannot play the file, or the page's policy forbids it, the file is
 * saved instead.
 */
export async function playFile(host: FileHost, file: ItemFile, card: HTMLElement): Promise<void> {
  const known = card.querySelector<HTMLMediaElement>('audio, video');
  if (known) return void known.play();
  const blob = await readFor(host, file, card);
  // The card may have been removed meanwhile, so that nothing would end the player.
  if (!blob || !card.isConnected) return;
  const player = document.createElement(file.kind === 'AUDIO' ? 'audio' : 'video');
  player.controls = true;
  player.onerror = () => {
    endPlaying(card);
    void saveFile(host, file, card);
  };
  player.src = URL.createObjectURL(new Blob([blob], { type: file.type }));
  card.append(player);
  // The browser may want a further click.
  player.play().catch(() => undefined);
}

/** Removes the player of a card, and frees the file's bytes. */
export function endPlaying(card: HTMLElement): void {
  const player = card.querySelector<HTMLMediaElement>('audio, video');
  if (!player) return;
  const { src } = player;
  player.pause();
  player.onerror = null;
  player.removeAttribute('src');
  player.load();
  player.remove();
  URL.revokeObjectURL(src);
}

async function readFor(host: FileHost, file: ItemFile, element: HTMLElement): Promise<Blob | null> {
  const line = element.querySelector('.card-error');
  if (line) line.textContent = '';
  element.ariaBusy = 'true';
  try {
    return await host.read(file);
  } catch {
    if (line) line.textContent = host.texts().notLoaded;
    return null;
  } finally {
    element.ariaBusy = null;
  }
}
