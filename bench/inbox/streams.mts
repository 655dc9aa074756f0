import { readFileSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { sleep } from '../../scripts/processes.mjs';
import { median } from '../support/statistics.mts';
import type { Figures } from './figures.mts';

const GOAL_KIB = 1_024;
const SETTLE_MS = 3_000;

/** Streams of the inbox, each of a session of its own. */
export interface Streams {
  end: () => void;
}

/**
 * Opens the stream of an inbox for each session, and measures the dashboard's memory that they take. The
 * first tenth only warms the process up.
 */
export async function openStreams(
  dashboard: { url: string; pid: number },
  workspaceId: string,
  cookies: string[],
  figures: Figures,
): Promise<Streams> {
  const open = (some: string[], from: number) =>
    Promise.all(some.map((cookie, n) => openStream(dashboard.url, workspaceId, cookie, from + n)));
  const few = Math.ceil(cookies.length / 10);
  const streams = await open(cookies.slice(0, few), 0);
  const before = await memoryOf(dashboard.pid);
  streams.push(...(await open(cookies.slice(few), few)));
  const kib = ((await memoryOf(dashboard.pid)) - before) / (cookies.length - few);
  figures.addText(
    `memory of a stream, of ${cookies.length}`,
    `≤ ${GOAL_KIB} KiB`,
    `${Math.max(0, Math.round(kib))} KiB`,
    kib <= GOAL_KIB,
  );
  return { end: () => streams.forEach((stream) => stream.destroy()) };
}

/** Opens a stream, from an address of its own, and resolves once it has begun. */
function openStream(url: string, workspaceId: string, cookie: string, n: number): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/workspaces/${workspaceId}/inbox/stream`, {
      agent: false,
      headers: { cookie, 'x-forwarded-for': `10.2.${n >> 8}.${n & 255}` },
    });
    asked.on('error', reject);
    asked.on('response', (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`The stream was answered ${answer.statusCode}.`));
      answer.on('error', () => undefined); // it is cut at the end
      answer.once('data', () => resolve(asked)).resume();
    });
    asked.end();
  });
}

/** Returns the resident memory of a process in KiB, once it has settled: the median of some seconds. */
async function memoryOf(pid: number): Promise<number> {
  const seen: number[] = [];
  for (let round = 0; round < 6; round++) {
    await sleep(SETTLE_MS / 6);
    seen.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]));
  }
  return median(seen);
}
