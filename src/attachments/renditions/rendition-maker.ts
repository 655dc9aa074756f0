import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BUILD_FOLDER } from '../../common/build-folder';
import { RenditionKind } from './rendition-kinds';

const PROGRAM = join(BUILD_FOLDER, 'attachments/renditions/rendition-process.js');
/** Milliseconds within which the store must give a file. */
const READ_MS = 40_000;
/** Milliseconds after which a process is killed that has the whole file. 50 megapixels take about 1,000. */
const TIMEOUT_MS = 10_000;
/** Memory of JavaScript in the process, in MiB. The decoder's memory is not part of it. */
const HEAP_MEBIBYTES = 64;

/** Content of a rendition; or the reason why there is none. */
export type RenditionResult = { content: Buffer } | { fault: string };

/** Makes renditions of files in a process of their own, of which each one lives for one file. */
@Injectable()
export class RenditionMaker {
  /**
   * Makes a rendition. A thumbnail is in WebP, of at most 640 × 640 pixels, turned as the picture's metadata
   * say, and has no metadata. A voice message is in MP3.
   * @param source JPEG, PNG, GIF, WebP or AVIF of at most 50 megapixels; or Ogg with Opus
   * @returns a fault if it cannot be decoded, or that takes longer than 10 s
   * @throws the error of the source; an error if it takes longer than 40 s, or if the process could not start
   *   or was killed; the reason of the signal
   */
  async make(kind: RenditionKind, source: Readable, signal?: AbortSignal): Promise<RenditionResult> {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEBIBYTES}`, PROGRAM, kind], {
      env: {},
      stdio: 'pipe',
      signal,
    });
    let isLate = false;
    let timer = setTimeout(() => source.destroy(new Error('The store took too long')), READ_MS);
    source.once('end', () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        isLate = true;
        child.kill('SIGKILL');
      }, TIMEOUT_MS);
    });
    const ended = new Promise<string | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, killed) => {
        if (isLate) resolve('it took too long');
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
      const [content, fault, end] = await Promise.race([results, failed]);
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
