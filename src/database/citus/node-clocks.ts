import { Logger } from '@nestjs/common';
import { Statements } from '../placement/placement';

/** Largest tolerated difference in milliseconds between a node's clock and the coordinator's. */
const MAX_OFFSET_MS = 1_000;

interface NodeAddress {
  host: string;
  port: number;
}

/** Time of a node, and the coordinator's times before and after it was read, in milliseconds since 1970. */
interface Measurement {
  success: boolean;
  result: string;
  before: number;
  after: number;
}

/**
 * Compares the clocks of the nodes of Citus with the coordinator's. No statement depends on a node's clock,
 * because each receives the coordinator's time. But a wrong clock is a sign that the node has other faults.
 */
export class NodeClocks {
  private readonly logger = new Logger(NodeClocks.name);
  private readonly wrong = new Set<string>();

  constructor(private readonly statements: Statements) {}

  get state(): 'synchronized' | 'wrong' {
    return this.wrong.size === 0 ? 'synchronized' : 'wrong';
  }

  async measure(): Promise<void> {
    const nodes = await this.statements.query<NodeAddress>(
      'SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE shouldhaveshards',
    );
    const names = nodes.map(nameOf);
    for (const node of this.wrong) if (!names.includes(node)) this.wrong.delete(node);
    const outcomes = await Promise.allSettled(nodes.map((node) => this.measureNode(node)));
    const fault = outcomes.find((outcome) => outcome.status === 'rejected');
    if (fault) throw fault.reason;
  }

  private async measureNode(node: NodeAddress): Promise<void> {
    const [measured] = await this.statements.query<Measurement>(
      `SELECT success, result, extract(epoch FROM statement_timestamp())::float8 * 1000 AS before,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS after
       FROM master_run_on_worker($1::text[], $2::integer[],
         ARRAY['SELECT extract(epoch FROM clock_timestamp())::float8 * 1000'], true)`,
      [[node.host], [node.port]],
    );
    const { success, result, before, after } = measured!;
    if (success) this.note(nameOf(node), Number(result) - (before + after) / 2, (after - before) / 2);
    // A node that does not answer does not count as wrong, because its clock is unknown.
    else this.wrong.delete(nameOf(node));
  }

  private note(node: string, offsetMs: number, uncertainty: number): void {
    const isWrong = Math.abs(offsetMs) - uncertainty > MAX_OFFSET_MS;
    if (isWrong === this.wrong.has(node)) return;
    const details = { node, offsetMs: Math.round(offsetMs) };
    this.wrong[isWrong ? 'add' : 'delete'](node);
    if (isWrong) this.logger.error(details, "a node's clock is more than 1 s from the coordinator's");
    else this.logger.log(details, "a node's clock agrees with the coordinator's again");
  }
}

function nameOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`;
}
