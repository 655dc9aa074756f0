import type { FileHost } from '../files/file-parts-contract';
import type { ItemFile } from '../files/item-files';
import type { FileKind } from '../protocol/types';
import { endPlaying, playFile, saveFile } from './use-file';

const SHAPES: Record<FileKind | 'SAVE', string> = {
  IMAGE: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 4M15.5 9h.01',
  AUDIO:
    'M9 18V6l10-2v11M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 15a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  VIDEO: 'M8 5.5v13l11-6.5z',
  FILE: 'M6 3h8l5 5v13H6zM14 3v5h5',
  SAVE: 'M12 4v11M7 11l5 5 5-5M5 20h14',
};

interface Props {
  file: ItemFile;
  host: FileHost;
}

interface ButtonProps {
  kind: keyof typeof SHAPES;
  label: string;
  act: (card: HTMLElement) => Promise<void>;
}

/** Draws a file as a card, with buttons to play and save it. */
export function FileCard({ file, host }: Props) {
  const texts = host.texts();
  const isThere = file.state === 'ready';
  const canPlay = isThere && (file.kind === 'AUDIO' || file.kind === 'VIDEO');
  return (
    <div class="card" ref={endPlayingAtRemoval}>
      <div class="card-line">
        {canPlay ? (
          <CardButton
            kind="VIDEO"
            label={fillName(texts.play, file)}
            act={(card) => playFile(host, file, card)}
          />
        ) : (
          <Symbol kind={file.kind} />
        )}
        <span class="card-text">
          <span class="file-name" dir="auto" title={file.name}>
            {file.name}
          </span>
          <span class="file-size">
            {file.state === 'failed' ? texts.unavailableFile : sizeText(file.size, host.languageTag())}
          </span>
        </span>
        {isThere && (
          <CardButton
            kind="SAVE"
            label={fillName(texts.saveFile, file)}
            act={(card) => saveFile(host, file, card)}
          />
        )}
      </div>
      <Progress file={file} host={host} />
      <p class="card-error" role="status" />
    </div>
  );
}

function CardButton({ kind, label, act }: ButtonProps) {
  return (
    <button
      type="button"
      class="card-button"
      aria-label={label}
      title={label}
      onClick={({ currentTarget }: { currentTarget: HTMLElement }) =>
        void act(currentTarget.closest('.card')!)
      }
    >
      <Symbol kind={kind} />
    </button>
  );
}

/** Draws how much of an unsent file is sent. The app changes the value while the file is sent. */
export function Progress({ file, host }: Props) {
  if (file.state !== 'unsent') return null;
  const value = host.progressOf(file.key);
  return <progress class="progress" data-file={file.key} aria-label={file.name} value={value} />;
}

export function Symbol({ kind }: { kind: keyof typeof SHAPES }) {
  return (
    <svg class="icon symbol" viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[kind]} />
    </svg>
  );
}

export function fillName(text: string, { name }: ItemFile): string {
  return text.replace('{name}', () => name);
}

/** Takes the element of a card. Returns the function that Preact calls when it removes the card. */
function endPlayingAtRemoval(card: HTMLElement | null): (() => void) | void {
  if (card) return () => endPlaying(card);
}

/** Returns a size such as `1.2 MB`, in the visitor's language. */
function sizeText(size: number | null, tag: string): string {
  if (size === null) return '';
  const kilobytes = Math.max(1, size / 1000);
  const [value, unit] = kilobytes < 1000 ? [kilobytes, 'kilobyte'] : [kilobytes / 1000, 'megabyte'];
  const options = { style: 'unit', unit, maximumSignificantDigits: value < 100 ? 2 : 3 } as const;
  return new Intl.NumberFormat(tag, options).format(value);
}
