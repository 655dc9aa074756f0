import { DashboardInBrowser } from './dashboard-in-browser';
import { START_TIMEOUT_MS } from './live-chat';

/**
 * Starts the dashboard for the tests of a file, and calls `begin` before each test. The pages that a test
 * opens are closed after it, and must have had no errors.
 */
export function withDashboard(begin: (world: DashboardInBrowser) => Promise<void>): void {
  let world: DashboardInBrowser;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
  }, START_TIMEOUT_MS);
  beforeEach(() => begin(world));
  afterEach(async () => {
    expect(await world.closePages()).toEqual([]);
  });
}
