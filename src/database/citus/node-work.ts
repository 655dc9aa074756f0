import { DatabaseUnavailable } from '../driver/database-errors';
import { NodeFailed } from './node-searches';

const WAIT_MS = 500;
const READ_MS = 1_000;

interface Named {
  readonly name: string;
}

/**
 * Repeats work on several nodes, none of which holds up the others. A run returns after half a second at the
 * latest, with all results since the previous run. It skips a node whose previous work still runs.
 */
export class NodeWork<Node extends Named, Result> {
  private running: Promise<Result[]> | null = null;
  private readonly busy = new Set<string>();
  /** Latest results of the nodes whose work has ended since the last run, by node name. */
  private ended = new Map<string, PromiseSettledResult<Result>>();

  constructor(
    private readonly list: () => Promise<Node[]>,
    private readonly work: (node: Node) => Promise<Result>,
  ) {}

  /**
   * Starts the work on each node, and returns the results. Concurrent callers get the same results. A node
   * that has failed is left out.
   * @throws an error of a node, if all nodes have failed or an error is not a NodeFailed
   */
  run(): Promise<Result[]> {
    this.running ??= this.runOnce().finally(() => (this.running = null));
    return this.running;
  }

  private async runOnce(): Promise<Result[]> {
    const nodes = await this.list();
    const begun = nodes.filter(({ name }) => !this.busy.has(name)).map((node) => this.begin(node));
    await endsWithin(WAIT_MS, Promise.all(begun));
    const ended = this.ended;
    this.ended = new Map();
    const results = [...ended.values()];
    const errors = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    const fault = errors.find((error) => !(error instanceof NodeFailed));
    const haveAllFailed =
      nodes.length > 0 && nodes.every(({ name }) => ended.get(name)?.status === 'rejected');
    if (fault !== undefined || haveAllFailed) throw fault ?? errors[0];
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  private async begin(node: Node): Promise<void> {
    this.busy.add(node.name);
    const [result] = await Promise.allSettled([this.work(node)]);
    this.busy.delete(node.name);
    this.ended.set(node.name, result);
  }
}

/**
 * Reads from several nodes, so that a slow node holds up no other node. A node that has not answered within 1
 * s is left out. It is not read from again until it has answered the earlier read.
 */
export class NodeReads {
  private readonly late = new Set<string>();

  async read<Node extends Named, Answer>(
    nodes: Node[],
    read: (node: Node) => Promise<Answer>,
  ): Promise<{ node: Node; answer: Answer }[]> {
    const asked = nodes.filter(({ name }) => !this.late.has(name));
    const answers = await Promise.all(asked.map((node) => this.readOn(node, read)));
    return answers.filter((one) => one !== null);
  }

  private async readOn<Node extends Named, Answer>(
    node: Node,
    read: (node: Node) => Promise<Answer>,
  ): Promise<{ node: Node; answer: Answer } | null> {
    const reading = read(node).then(
      (answer) => ({ node, answer }),
      (error: unknown) => {
        if (error instanceof NodeFailed || error instanceof DatabaseUnavailable) return null;
        throw error;
      },
    );
    if (await endsWithin(READ_MS, reading)) return reading;
    this.late.add(node.name);
    const forget = () => this.late.delete(node.name);
    void reading.then(forget, forget);
    return null;
  }
}

/**
 * Reports whether work ends within `ms` milliseconds.
 * @throws the error with which the work rejects within that time
 */
async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
