import { existsSync, readdirSync, readFileSync } from 'node:fs';

const EVERY_MS = 500;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** A process that is watched, even if it is restarted. */
interface Watched {
  name: string;
  pid: number | null;
}

/** One measure of each watched process. */
class Gauge {
  /** Highest value since the last `forgetPeaks`, over all restarts. */
  readonly peaks = new Map<string, number>();
  readonly latest = new Map<string, number>();

  set(name: string, value: number): void {
    this.latest.set(name, value);
    this.peaks.set(name, Math.max(this.peaks.get(name) ?? 0, value));
  }
}

/** Resources that processes use, as the system reports them. Empty on systems without /proc. */
export class ProcessUsage {
  /** Memory in MiB. */
  readonly memory = new Gauge();
  /** Open files and sockets. */
  readonly descriptors = new Gauge();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly processes: readonly Watched[]) {
    this.timer = setInterval(() => this.sample(), EVERY_MS);
  }

  sample(): void {
    for (const { name, pid } of this.processes) {
      if (!existsSync(`/proc/${pid}/status`)) continue;
      const resident = RESIDENT.exec(ofProcess(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '')?.[1];
      const descriptors = ofProcess(() => readdirSync(`/proc/${pid}/fd`));
      if (resident) this.memory.set(name, Math.round(Number(resident) / 1024));
      if (descriptors) this.descriptors.set(name, descriptors.length);
    }
  }

  forgetPeaks(): void {
    this.memory.peaks.clear();
    this.descriptors.peaks.clear();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** Runs a read of a process; null if the process has ended. */
function ofProcess<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
