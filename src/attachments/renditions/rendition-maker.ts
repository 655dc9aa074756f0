import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BUILD_FOLDER } from '../../common/build-folder';
import { RenditionKind } from './rendition-kinds';

const PROGRAM = join(BUILD_FOLDER, 'attachments/renditions/rendition-process.js');
/** Milliseconds after which a process is killed. A picture of 50 megapixels takes about one second. */
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
   * @returns a fault if it cannot be decoded, or its process ended or took longer than 10 s
   * @throws the error of the source, or the reason of the signal
   */
  async make(kind: RenditionKind, source: Readable, signal?: AbortSignal): Promise<RenditionResult> {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEBIBYTES}`, PROGRAM, kind], {
      env: {},
      stdio: 'pipe',
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      signal,
    });
    const ended = new Promise<string | null>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, killed) => resolve(code === 0 ? null : `it ended with ${killed ?? code}`));
    });
    // The process can end before it has read everything. Then its end tells why, and not the pipe's error.
    child.stdin.on('error', () => source.destroy());
    const failed = new Promise<never>((_, reject) => source.once('error', reject));
    source.pipe(child.stdin);
    try {
      const results = Promise.all([buffer(child.stdout), text(child.stderr), ended]);
      const [content, fault, end] = await Promise.race([results, failed]);
      signal?.throwIfAborted();
      return end === null ? { content } : { fault: fault || end };
    } finally {
      source.destroy();
      child.kill('SIGKILL');
    }
  }
}
