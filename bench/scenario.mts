import type { Deployment } from './support/deployment.mts';
import type { Environment } from './support/environment.mts';
import type { Plan } from './support/plan.mts';
import type { Row } from './support/report.mts';

/** Scenario of the benchmark. `run` measures it and returns its rows of the result table. */
export interface Scenario {
  name: string;
  /** Names of parts that `--only` can run without the rest of the scenario. */
  parts?: string[];
  /** Whether the scenario runs only if `--only` names it. */
  heavy?: boolean;
  run: (bench: Bench) => Promise<Row[]>;
}

/**
 * Arguments of `Scenario.run`: the plan of durations and sizes, the servers, and two databases of different
 * size.
 */
export interface Bench {
  plan: Plan;
  environment: Environment;
  /**
   * Returns the deployment whose database has the rows of `plan.small` (10,000 conversations). Most scenarios
   * share it; the first call fills the database.
   */
  small: () => Promise<Deployment>;
  /**
   * Returns the deployment whose database has the rows of `plan.large` (a million conversations; 50,000 with
   * `--quick`). The first call fills the database.
   */
  large: () => Promise<Deployment>;
  /** Tells whether `--only` leaves a part of the scenario to run. */
  wants: (part: string) => boolean;
  progress: (line: string) => void;
}
