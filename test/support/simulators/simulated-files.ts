import { createHash } from 'node:crypto';

/** File in the body of a call, or fetched by a simulator. */
export interface SimulatedFile {
  name: string;
  type: string;
  size: number;
  sha256: string;
}

export const MIB = 1024 * 1024;

export function fileOf(name: string, type: string, bytes: Buffer): SimulatedFile {
  return { name, type, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Reads a multipart body: fields as text, files as SimulatedFile. Returns null if it has not its end. */
export function readMultipart(contentType: string, body: Buffer): Record<string, unknown> | null {
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(contentType)?.slice(1).find(Boolean);
  // Latin-1 keeps each byte as a character.
  const text = body.toString('latin1');
  const sections = text.split(`--${boundary}`);
  if (sections.at(-1)?.trim() !== '--') return null;
  return Object.fromEntries(
    sections.slice(1, -1).map((section) => {
      const end = section.indexOf('\r\n\r\n');
      const head = Buffer.from(section.slice(0, end), 'latin1').toString();
      const bytes = Buffer.from(section.slice(end + 4, -2), 'latin1');
      const name = /[ ;]name="([^"]*)"/.exec(head)?.[1] ?? '';
      const fileName = /filename="([^"]*)"/.exec(head)?.[1];
      if (fileName === undefined) return [name, bytes.toString()];
      return [name, fileOf(fileName, /Content-Type: *(\S+)/i.exec(head)?.[1] ?? '', bytes)];
    }),
  );
}

/** Files that were uploaded to a provider, by the ids that it gave. */
export class UploadedFiles<Facts extends object = object> {
  /** Whether a file that was uploaded before is refused, so that a test sees a needless second upload. */
  refusesSecond = false;
  readonly byId = new Map<string, SimulatedFile & Facts>();

  constructor(private readonly firstId: number) {}

  /** Stores a file, and returns its id; null if the upload is refused as the second one. */
  add(file: SimulatedFile, facts: Facts): string | null {
    const isSecond = [...this.byId.values()].some(({ sha256 }) => sha256 === file.sha256);
    if (isSecond && this.refusesSecond) return null;
    const id = String(this.firstId + this.byId.size);
    this.byId.set(id, { ...file, ...facts });
    return id;
  }

  /** Forgets all files, as a provider does after some weeks. */
  expire(): void {
    for (const id of this.byId.keys()) this.byId.set(id, { ...this.byId.get(id)!, sha256: '', size: -1 });
  }

  /** Returns a file that lives; undefined if its id is unknown or has expired. */
  find(id: unknown): (SimulatedFile & Facts) | undefined {
    const file = this.byId.get(String(id));
    return file && file.size >= 0 ? file : undefined;
  }
}
