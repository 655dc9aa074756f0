import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Role } from '../../src/config/settings';
import { ServiceProcess } from './service-process';
import { stopAtEnd } from './stop-at-end';
import { TestStores } from './test-database';
import { countingEnvironment, readCounts } from './work-counts.mjs';

/** A process of the service that counts its work. */
export class CountedProcess {
  private constructor(
    readonly process: ServiceProcess,
    private readonly file: string,
  ) {}

  static async start(role: Role, stores: TestStores): Promise<CountedProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-counts-'));
    const file = join(folder, 'counts.json');
    const process = await ServiceProcess.start(role, stores, countingEnvironment(file));
    return stopAtEnd(new CountedProcess(process, file), () =>
      rmSync(folder, { recursive: true, force: true }),
    );
  }

  /** Returns the counts since the start of the process. */
  read() {
    return readCounts(this.process.pid, this.file);
  }
}
