import { TabChannel } from '../tabs/tab-channel';
import type { FileStore } from './file-store';

/** Milliseconds in which another tab must answer that it has a file. */
const ANSWER_MS = 5000;

/** Question for a file, or the answer with its bytes. */
interface FileMessage {
  fileId: string;
  blob?: Blob;
}

/** Finds files that the browser had no room for, so that only the memory of one of its tabs has them. */
export class SharedFiles {
  private readonly channel: TabChannel<FileMessage>;
  private readonly asked = new Map<string, (blob: Blob) => void>();

  constructor(
    name: string,
    private readonly files: FileStore,
  ) {
    this.channel = new TabChannel(name, ({ fileId, blob }) =>
      blob ? this.asked.get(fileId)?.(blob) : void this.answer(fileId),
    );
  }

  /** Returns the bytes of a file; null if neither this browser nor an open tab has them. */
  async find(fileId: string): Promise<Blob | null> {
    return (await this.files.get(fileId)) ?? (await this.ask(fileId));
  }

  close(): void {
    this.channel.close();
  }

  private async ask(fileId: string): Promise<Blob | null> {
    const blob = await new Promise<Blob | null>((resolve) => {
      setTimeout(resolve, ANSWER_MS, null);
      this.asked.set(fileId, resolve);
      this.channel.post({ fileId });
    });
    this.asked.delete(fileId);
    return blob;
  }

  private async answer(fileId: string): Promise<void> {
    const blob = await this.files.get(fileId);
    if (blob) this.channel.post({ fileId, blob });
  }
}
