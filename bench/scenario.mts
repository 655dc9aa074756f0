import type { Deployment } from './support/deployment.mts';
import type { Environment } from './support/environment.mts';
import type { Plan } from './support/plan.mts';
import type { Row } from './support/report.mts';

/** Measures one thing, and returns its lines of the table. */
export interface Scenario {
  name: string;
  /** Parts that `--only` can pick by themselves. */
  parts?: string[];
  /** Runs only on request. */
  heavy?: boolean;
  run: (bench: Bench) => Promise<Row[]>;
}

/** All that a scenario is given. */
export interface Bench {
  plan: Plan;
  environment: Environment;
  /** Returns the deployment on little data, which most scenarios share. */
  small: () => Promise<Deployment>;
  /** Returns the deployment on much data. */
  large: () => Promise<Deployment>;
  /** Tells whether a part of the scenario is to run. */
  wants: (part: string) => boolean;
  progress: (line: string) => void;
}
