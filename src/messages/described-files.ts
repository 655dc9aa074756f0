import { FileKind } from '../common/file-limits';

const WORDS: Record<FileKind, string> = { IMAGE: 'image', AUDIO: 'audio', VIDEO: 'video', FILE: 'file' };

interface DescribedFile {
  kind: FileKind | null;
  name: string | null;
}

/**
 * Describes files, a line each, such as `[image]` or `[file: invoice.pdf]`. It is the body of a message that
 * has files alone, so that who reads texts alone misses nothing.
 */
export function describeFiles(files: DescribedFile[]): string {
  return files.map(({ kind, name }) => describeFile(kind ?? 'FILE', name ?? '')).join('\n');
}

/** Reports whether a body says nothing beyond the kinds, names and caption of a message's received files. */
export function saysOnlyFiles(body: string, caption: string | null, names: (string | null)[]): boolean {
  const rest = [caption, ...names].reduce<string>(
    (text, one) => (one ? text.replace(one, () => '') : text),
    body,
  );
  return rest.replace(/\[\w+\]/g, '').trim() === '';
}

function describeFile(kind: FileKind, name: string): string {
  return kind === 'FILE' ? `[${WORDS[kind]}: ${name}]` : `[${WORDS[kind]}]`;
}
