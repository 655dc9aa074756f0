import { existsSync, readFileSync } from 'node:fs';
import { ServiceProcess } from './service-process';

const EVERY_MS = 500;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** The memory of each process, in MiB. Empty on systems without /proc. */
export class Memory {
  /** Highest value over all restarts. */
  readonly peaks = new Map<string, number>();
  readonly latest = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly processes: readonly ServiceProcess[]) {
    this.timer = setInterval(() => this.sample(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private sample(): void {
    for (const { name, pid } of this.processes) {
      const file = `/proc/${pid}/status`;
      if (!existsSync(file)) continue;
      const resident = RESIDENT.exec(read(file))?.[1];
      if (!resident) continue;
      const mib = Math.round(Number(resident) / 1024);
      this.latest.set(name, mib);
      this.peaks.set(name, Math.max(this.peaks.get(name) ?? 0, mib));
    }
  }
}

/** Empty if the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
