import { ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { startReaper } from '../../scripts/processes.mjs';

const ROOMY = '4g';
/**
 * Bytes that may be written between reading the disk's use and changing its size; doubled after each failure.
 */
const MARGIN_BYTES = 64 * 1024;
const MAX_TRIES = 50;
/** Shell script that mounts a file system, and unmounts it when the script is ended. */
const HOLD = `
  mount -t tmpfs -o mode=755,size=${ROOMY} chaos "$1" || exit 1
  trap 'umount -l "$1"; exit' TERM
  echo mounted
  while :; do sleep 0.2; done`;

type Reaper = Awaited<ReturnType<typeof startReaper>>;

/** A small file system, which can be filled. Only root can mount one. */
export class SmallDisk {
  private constructor(readonly folder: string) {}

  /**
   * Mounts a file system. Servers that the reaper adopts later end before it.
   * @returns the reason as a text if it can't be mounted
   */
  static async mount(folder: string, reaper: Reaper): Promise<SmallDisk | string> {
    mkdirSync(folder);
    const holder = spawn('/bin/sh', ['-c', HOLD, 'sh', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    const answer = await firstLine(holder);
    if (answer !== 'mounted') return `no file system can be mounted here (${answer})`;
    reaper.adopt(holder, 'SIGTERM');
    return new SmallDisk(folder);
  }

  /** Makes the disk so small that almost nothing more can be written that needs a new page. */
  fill(): void {
    let failure: string | null = null;
    for (let margin = 0; margin < MAX_TRIES * MARGIN_BYTES; margin += MARGIN_BYTES) {
      const { blocks, bfree, bsize } = statfsSync(this.folder);
      // A size of 0 is no limit, which a limit could not follow.
      failure = this.resize(String(Math.max((blocks - bfree) * bsize + margin, bsize)));
      if (failure === null) return;
    }
    throw new Error(`The file system was not resized: ${failure}`);
  }

  free(): void {
    const failure = this.resize(ROOMY);
    if (failure !== null) throw new Error(`The file system was not resized: ${failure}`);
  }

  /**
   * Changes the disk's size.
   * @returns the reason if it was not possible, such as more use of the disk since
   */
  private resize(size: string): string | null {
    const { status, stderr } = spawnSync('mount', ['-o', `remount,size=${size}`, this.folder], {
      encoding: 'utf8',
    });
    return status === 0 ? null : stderr;
  }
}

/** Returns the first line that a program writes, to its output or its error stream. */
async function firstLine({ stdout, stderr }: ChildProcess): Promise<string> {
  const lines = [stdout!, stderr!].map((input) => createInterface({ input }));
  return new Promise((resolve) => {
    for (const line of lines) line.once('line', resolve);
  });
}
