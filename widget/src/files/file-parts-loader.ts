import type { FileParts, FilePartsModule, FileHost } from './file-parts-contract';

/** Milliseconds after a failed attempt in which the parts are not asked for again. */
const RETRY_MS = 5000;

/** Loads the parts that draw files, once. Until then, the panel shows the names of files. */
export class FilePartsLoader {
  parts: FileParts | null = null;
  private loading: Promise<void> | null = null;
  private attempts = 0;

  constructor(
    private readonly host: FileHost,
    private readonly onLoaded: (parts: FileParts) => void,
  ) {}

  /** Begins to load the parts. Resolves once they are loaded, or could not be loaded. */
  load(): Promise<void> {
    if (this.parts) return Promise.resolve();
    return (this.loading ??= this.loadOnce());
  }

  private async loadOnce(): Promise<void> {
    // Each attempt imports another address, because browsers may cache the failure of an import.
    const url =
      new URL(FILE_PARTS_PATH, import.meta.url).href + (this.attempts++ ? `?retry=${this.attempts}` : '');
    try {
      const { createFileParts } = (await import(/* @vite-ignore */ url)) as FilePartsModule;
      this.parts = createFileParts(this.host);
      this.onLoaded(this.parts);
    } catch {
      setTimeout(() => (this.loading = null), RETRY_MS);
    }
  }
}
