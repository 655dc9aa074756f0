import { Command } from 'commander';
import type { CheckStep } from '../attachments/files/file-check';
import { addCommand, type CommandServices, print } from './command';
import { option } from './option-values';

/** Milliseconds between two lines of progress on stderr. */
const PROGRESS_MS = 10_000;

interface CheckOptions {
  workspace?: string;
  hashes?: boolean;
}

export function addFilesCommands(program: Command): void {
  const files = program.command('files').description('The files in messages, and the store of their bytes.');

  addCommand(files, 'check', {
    does: "Compares the rows of files with the store's bytes, and changes nothing. Exits with 1 after a fault.",
    options: [
      option('--workspace <slug>', 'only the files of this workspace'),
      option('--hashes', 'reads all bytes, and compares their SHA-256 too'),
    ],
    note: `
Faults: bytes_missing, rendition_missing, size_differs, sha256_differs; row_missing are bytes older than a day that no
row names, which the nightly sweep removes. Every 10 seconds a line on stderr tells how far it is.
`,
    prints:
      'a line {workspaceId, fileId, isRendition, fault} for each fault, and at last {rows, stored, faults}; ' +
      'stored is null if several databases use the store, because their bytes cannot be told apart',
    calls: ['files check', 'files check --workspace acme --hashes'],
    run: check,
  });
}

async function check(
  services: CommandServices,
  { workspace, hashes = false }: CheckOptions,
): Promise<object> {
  const { fileChecks } = services;
  const tellsBytes = await fileChecks.prepare();
  const only =
    workspace === undefined ? undefined : await services.workspaces.getBySlug(workspace, services.operator);
  const sum = { rows: 0, stored: tellsBytes ? 0 : null, faults: 0 };
  let toldAt = Date.now();
  for await (const step of steps(services, only?.id, { hashes, tellsBytes })) {
    if ('rows' in step) sum.rows += step.rows;
    else sum.stored! += step.stored;
    sum.faults += step.faults.length;
    for (const { tenantId: workspaceId, fileId, isRendition = false, fault } of step.faults)
      print({ workspaceId, fileId, isRendition, fault });
    if (Date.now() - toldAt < PROGRESS_MS) continue;
    toldAt = Date.now();
    process.stderr.write(`${JSON.stringify(sum)}\n`);
  }
  if (sum.faults > 0) process.exitCode = 1;
  return sum;
}

async function* steps(
  { fileChecks, lookup }: CommandServices,
  only: string | undefined,
  { hashes, tellsBytes }: { hashes: boolean; tellsBytes: boolean },
): AsyncGenerator<CheckStep> {
  // A deletion removes the bytes of a workspace before its rows.
  const begun = (await lookup.listDeletions()).filter(({ startedAt }) => startedAt !== null);
  const isGoing = (id: string) => begun.some(({ workspaceId }) => workspaceId === id);
  const ids = only === undefined ? (await lookup.listWorkspaces()).map(({ id }) => id) : [only];
  for (const id of ids) if (!isGoing(id)) yield* fileChecks.checkRows(id, hashes);
  if (tellsBytes) yield* fileChecks.checkBytes(only);
}
