import type { OutboxFile } from '../outbox/outbox-record';
import { randomId } from '../session/visitor-session';
import { isReadable, type FileStore } from './file-store';

/** Maximum number of files of a message, and maximum bytes of each, as the service takes them. */
export const MAX_FILES = 10;
export const MAX_FILE_MEBIBYTES = 25;
/** Maximum characters of a file's name that the service takes. */
const MAX_NAME = 255;

/** Text that says why a chosen file is not in the draft, or not stored, and the file's name. */
export interface ChoiceProblem {
  text: 'tooManyFiles' | 'fileTooLarge' | 'fileEmpty' | 'fileNotKept';
  name: string;
}

export type Measure = (blob: Blob) => Promise<{ width: number; height: number } | null>;

/** Files of a visitor's draft. They are stored at once, so that they survive the end of the page. */
export class ChosenFiles {
  list: readonly OutboxFile[] = [];

  constructor(
    private readonly store: FileStore,
    private readonly onChange: () => void,
  ) {}

  /**
   * Adds files. Returns the first problem; null if all files are in the draft and stored.
   *
   * @param measure returns a picture's size, for which the messages reserve room
   */
  async add(files: readonly File[], measure?: Measure): Promise<ChoiceProblem | null> {
    let problem: ChoiceProblem | null = null;
    for (const file of files) {
      const text = await this.addOne(file, measure);
      if (text) problem ??= { text, name: file.name };
    }
    return problem;
  }

  async remove(fileId: string): Promise<void> {
    this.drop(fileId);
    await this.store.remove(fileId);
  }

  /** Empties the draft and returns its files, for a message. */
  take(): readonly OutboxFile[] {
    const { list } = this;
    this.list = [];
    return list;
  }

  /** Takes the files of another page's or visitor's draft, if this browser still has them. */
  async replace(files: readonly OutboxFile[]): Promise<void> {
    this.list = files;
    for (const { fileId } of files) if (!(await this.store.get(fileId))) this.drop(fileId);
  }

  has(fileId: string): boolean {
    return this.list.some((file) => file.fileId === fileId);
  }

  private drop(fileId: string): void {
    this.list = this.list.filter((file) => file.fileId !== fileId);
    this.onChange();
  }

  private async addOne(file: File, measure?: Measure): Promise<ChoiceProblem['text'] | null> {
    if (this.list.length >= MAX_FILES) return 'tooManyFiles';
    if (file.size > MAX_FILE_MEBIBYTES * 1024 * 1024) return 'fileTooLarge';
    if (file.size === 0 || !(await isReadable(file))) return 'fileEmpty';
    const fileId = randomId();
    const isStored = await this.store.put(fileId, file);
    const { type, size } = file;
    const area = await measure?.(file);
    this.list = [...this.list, { fileId, name: shortened(file.name), type, size, ...area }];
    this.onChange();
    return isStored ? null : 'fileNotKept';
  }
}

/** Shortens a name in the middle, so that its end still shows the file's type. */
function shortened(name: string): string {
  const characters = [...name.toWellFormed()];
  if (characters.length <= MAX_NAME) return characters.join('');
  return [...characters.slice(0, MAX_NAME - 33), '…', ...characters.slice(-32)].join('');
}
