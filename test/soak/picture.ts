import { Kind, KINDS } from './cluster';
import { mb, Minute, Queue, QUEUES } from './minutes';
import { RESTART_EVERY, SNAPSHOT } from './timetable';

const WIDTH = 720;
const LEFT = 56;
const PANEL = { height: 120, gap: 44 };
const COLOURS = ['#2a78d6', '#d9622b', '#2e9e5b'];

/** Lines of one unit above a common axis of time. */
interface Panel {
  title: string;
  lines: { name: string; values: number[] }[];
}

/** Returns the curve of a run as an SVG picture, readable on light and dark pages. */
export function pictureOf(minutes: readonly Minute[], length: number): string {
  const memory = (kind: Kind) => minutes.map(({ memoryMb }) => memoryMb[kind]);
  const size = (table: Queue) => minutes.map(({ queueBytes }) => mb(queueBytes[table]));
  const panels: Panel[] = [
    {
      title: 'p95 of request to webhook, ms',
      lines: [{ name: 'answering endpoints', values: minutes.map(({ p95Ms }) => p95Ms) }],
    },
    { title: 'Memory of a process, MB', lines: KINDS.map((kind) => ({ name: kind, values: memory(kind) })) },
    {
      title: 'Queue tables with indexes, MB',
      lines: QUEUES.map((table) => ({ name: table, values: size(table) })),
    },
  ];
  const height = 40 + panels.length * (PANEL.height + PANEL.gap);
  const x = (minute: number) => LEFT + (minute / minutes.length) * (WIDTH - LEFT - 16);
  const top = (index: number) => 36 + index * (PANEL.height + PANEL.gap);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<style>
  text { fill: #57606a } .axis { stroke: #8c959f } .restart { stroke: #8c959f; stroke-dasharray: 2 4 } .snapshot { fill: #8c959f; opacity: .18 }
  @media (prefers-color-scheme: dark) { text { fill: #adbac7 } }
</style>
${panels.map((panel, index) => panelOf(panel, top(index), x)).join('\n')}
<text x="${LEFT}" y="${height - 10}">${length} minutes; grey: a snapshot is held; dashed: restarts</text>
</svg>
`;
}

function panelOf({ title, lines }: Panel, top: number, x: (minute: number) => number): string {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values)) * 1.1;
  const bottom = top + PANEL.height;
  const count = lines[0]!.values.length;
  const restarts = Array.from({ length: Math.ceil(count / RESTART_EVERY) - 1 }, (_, n) =>
    x((n + 1) * RESTART_EVERY),
  );
  const path = (values: number[]) =>
    values
      .map(
        (value, minute) =>
          `${x(minute + 0.5).toFixed(1)},${(bottom - (value / most) * PANEL.height).toFixed(1)}`,
      )
      .join(' ');
  return [
    `<text x="${LEFT}" y="${top - 8}" font-weight="bold">${title}</text>`,
    ...lines.map(
      ({ name }, index) =>
        `<text x="${300 + index * 140}" y="${top - 8}" style="fill: ${COLOURS[index]}">${name}</text>`,
    ),
    `<rect class="snapshot" x="${x(SNAPSHOT.from)}" y="${top}" width="${x(SNAPSHOT.to) - x(SNAPSHOT.from)}" height="${PANEL.height}"/>`,
    ...restarts.map((at) => `<line class="restart" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`),
    `<line class="axis" x1="${LEFT}" x2="${x(count)}" y1="${bottom}" y2="${bottom}"/>`,
    `<text x="${LEFT - 6}" y="${top + 10}" text-anchor="end">${most.toFixed(0)}</text><text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>`,
    ...lines.map(
      ({ values }, index) =>
        `<polyline points="${path(values)}" fill="none" stroke="${COLOURS[index]}" stroke-width="1.5"/>`,
    ),
  ].join('\n');
}
