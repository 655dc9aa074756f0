import { Injectable, Logger } from '@nestjs/common';
import { Readable } from 'node:stream';
import { Database } from '../../database/database';
import { BEFORE_ALL_DUE } from '../../queue/polling/due-position';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { FileStore } from '../store/file-store';
import { RenditionMaker } from './rendition-maker';
import { DueRendition, RenditionsRepository } from './renditions.repository';

/**
 * Pause in milliseconds after a rendition. A rendition takes some 300 of one processor, so that many of them
 * leave most of its time to messages.
 */
const PAUSE_MS = 1_000;

/**
 * Makes the renditions of stored files, one at a time in a worker. A file whose rendition cannot be made is
 * shown without one.
 */
@Injectable()
export class RenditionRunner {
  private readonly logger = new Logger(RenditionRunner.name);

  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly renditions: RenditionsRepository,
    private readonly maker: RenditionMaker,
    private readonly store: FileStore,
  ) {
    runner.registerFree({
      name: 'renditions',
      pauseMs: PAUSE_MS,
      search: { first: BEFORE_ALL_DUE, find: (after, server) => renditions.findDue(after, server) },
      step: (key) => this.step(key),
    });
  }

  private async step(key: DueRendition): Promise<StepOutcome> {
    const kind = await this.database.queueTransaction((tx) => this.renditions.claim(tx, key));
    if (kind === null) return 'done';
    const result = await this.maker.make(kind, await this.store.open(key));
    if ('fault' in result) this.logger.log({ ...key, kind, fault: result.fault }, 'a file has no rendition');
    else {
      const { content } = result;
      await this.store.put({ ...key, isRendition: true }, Readable.from([content]), { size: content.length });
    }
    const made = 'fault' in result ? null : kind;
    const isKept = await this.database.queueTransaction((tx) => this.renditions.finish(tx, key, made));
    // The file may have been erased meanwhile, so that nothing else would remove the rendition.
    if (!isKept && made) await this.store.remove({ ...key, isRendition: true });
    return 'done';
  }
}
