import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BUILD_FOLDER } from '../../common/build-folder';
import { RenditionKind } from './rendition-kinds';

const PROGRAM = join(BUILD_FOLDER, 'attachments/renditions/rendition-process.js');
/** Text of a shell that runs a program within seconds of processor time. Its arguments are both. */
const LIMITED = 'ulimit -S -t "$0" && exec "$@"';
/** Memory of JavaScript in the process, in MiB. The decoder's memory is not part of it. */
const HEAP_MEBIBYTES = 64;

/** Limits of a process. */
interface RenditionLimits {
  /** Seconds of processor time after which the process is killed. 50 megapixels take about one. */
  processorSeconds: number;
  /**
   * Milliseconds within which the store must give the file and the process end. The time is long, because
   * other processes go first on a busy machine.
   */
  totalMs: number;
}

const LIMITS: RenditionLimits = { processorSeconds: 10, totalMs: 50_000 };

/** Content of a rendition; or the reason why there is none. */
export type RenditionResult = { content: Buffer } | { fault: string };

/** Makes renditions of files in a process of their own, of which each one lives for one file. */
@Injectable()
export class RenditionMaker {
  /**
   * Makes a rendition. A thumbnail is in WebP, of at most 640 × 640 pixels, turned as the picture's metadata
   * say, and has no metadata. A voice message is in MP3.
   * @param source JPEG, PNG, GIF, WebP or AVIF of at most 50 megapixels; or Ogg with Opus
   * @returns a fault if it cannot be decoded, or if that takes more than 10 s of processor time
   * @throws the error of the source; an error if all takes longer than 50 s, or if the process could not
   *   start or was killed; the reason of the signal
   */
  async make(
    kind: RenditionKind,
    source: Readable,
    signal?: AbortSignal,
    limits = LIMITS,
  ): Promise<RenditionResult> {
    const program = [process.execPath, `--max-old-space-size=${HEAP_MEBIBYTES}`, PROGRAM, kind];
    const child = spawn('/bin/sh', ['-c', LIMITED, String(limits.processorSeconds), ...program], {
      env: {},
      stdio: 'pipe',
      signal,
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The file was not rendered in time')), limits.totalMs);
    });
    const ended = new Promise<string | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, killed) => {
        if (killed === 'SIGXCPU') resolve('it took too long');
        else if (killed) reject(new Error(`The process was killed with ${killed}`));
        else resolve(code === 0 ? null : `it ended with ${code}`);
      });
    });
    // The process can end before it has read everything. Then its end tells why, and not the pipe's error.
    child.stdin.on('error', () => source.destroy());
    const failed = new Promise<never>((_, reject) => source.once('error', reject));
    source.pipe(child.stdin);
    try {
      const results = Promise.all([buffer(child.stdout), text(child.stderr), ended]);
      const [content, fault, end] = await Promise.race([results, failed, late]);
      return end === null ? { content } : { fault: fault || end };
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      source.destroy();
      child.kill('SIGKILL');
    }
  }
}
