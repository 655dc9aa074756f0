import { cpus, totalmem } from 'node:os';
import type { Environment } from './environment.mts';

/** Computer, and versions of Node, PostgreSQL and Redis, that a run of the benchmark measured on. */
interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  node: string;
  postgresql: string;
  redis: string;
}

export async function machineOf(environment: Environment): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    ...(await environment.versions()),
  };
}

export function describeMachine({ cpu, cores, memoryGiB, node, postgresql, redis }: Machine): string {
  return `${cores} × ${cpu}, ${memoryGiB} GiB; Node ${node}, PostgreSQL ${postgresql}, Redis ${redis}`;
}
