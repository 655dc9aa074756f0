import { besiege, isFull } from './besiege';
import { DASHBOARD_ATTACKS } from './dashboard-attacks';
import { DashboardTarget } from './dashboard-target';

/** Attacks on what the dashboard shares with the API. The short form leaves them to the API's. */
const SHARED = [
  'connections: slow heads',
  'connections: slow chunks',
  'connections: half-closed',
  'connections: many, idle after an answer',
  'bodies: bad text',
];
const ATTACKS = DASHBOARD_ATTACKS.filter(({ name }) => isFull || !SHARED.includes(name));

/** Attacks a process of the dashboard. The witness reads the pages of another workspace. */
describe('Attack on the dashboard', () => {
  besiege(
    'Attack on the dashboard',
    (sizes) => DashboardTarget.start(sizes),
    ATTACKS,
    async ({ witness }) => {
      return (await witness.report()).unexpected;
    },
  );
});
