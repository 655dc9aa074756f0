import { Download, Locator } from 'playwright-core';

/** Wait for a download after a click. A request that is merely slow takes less. */
const BEGINS_MS = 10_000;
const MAX_CLICKS = 3;

/**
 * Clicks on a link or button, and returns the download that it begins. On a busy machine Chromium loses a
 * click now and then: Playwright has made it, but no event of the mouse reaches the page. So the click is
 * repeated, as a person would do.
 */
export async function downloadOf(control: Locator): Promise<Download> {
  for (let clicks = 1; clicks <= MAX_CLICKS; clicks++) {
    const begun = control
      .page()
      .waitForEvent('download', { timeout: BEGINS_MS })
      .catch(() => null);
    await control.click();
    const download = await begun;
    if (download) return download;
  }
  throw new Error(`${MAX_CLICKS} clicks began no download`);
}
