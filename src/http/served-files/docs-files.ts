import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ENCODINGS, EncodedFile } from './encoded-file';

const COMPRESSED_NAMES = { br: '.br', gzip: '.gz' };

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
};

/** Folder of files whose names contain a hash of their content. */
const ASSETS = 'assets/';

export interface DocsFile {
  file: EncodedFile;
  contentType: string;
  isNamedByContent: boolean;
}

/** Reads the files of the built documentation, by name. Returns none if the folder is missing. */
export async function readDocsFiles(folder: string): Promise<ReadonlyMap<string, DocsFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    },
  );
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const names = new Set(paths.map((path) => path.slice(folder.length + 1)));
  const files = new Map<string, DocsFile>();
  // One after the other, so that few files are open at a time.
  for (const name of names)
    if (extname(name) in CONTENT_TYPES) files.set(name, await readDocsFile(folder, name, names));
  return files;
}

async function readDocsFile(folder: string, name: string, names: ReadonlySet<string>): Promise<DocsFile> {
  const compressed: Partial<Record<keyof typeof COMPRESSED_NAMES, Buffer>> = {};
  for (const encoding of ENCODINGS) {
    const compressedName = name + COMPRESSED_NAMES[encoding];
    if (names.has(compressedName)) compressed[encoding] = await readFile(join(folder, compressedName));
  }
  return {
    file: new EncodedFile(await readFile(join(folder, name)), compressed),
    contentType: CONTENT_TYPES[extname(name)]!,
    isNamedByContent: name.startsWith(ASSETS),
  };
}
