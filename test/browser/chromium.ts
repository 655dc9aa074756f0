import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Browser, chromium } from 'playwright-core';
import { installPackage } from '../../scripts/servers/apt.mjs';
import { stopAtEnd } from '../support/stop-at-end';

/** Path of Debian's Chromium, or of another one that CHROMIUM names. */
const COMMAND = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Arguments that keep Chromium from asking other machines for anything by itself. */
const CHROMIUM_ARGUMENTS = [
  // The rule gives this machine another name, for pages over plain http.
  '--host-resolver-rules=MAP shop.test 127.0.0.1',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Returns the path of Chromium. Where it is missing, root installs it on Debian.
 * @throws Error that says what to do
 */
function requireChromium(): string {
  if (!process.env.CHROMIUM && !existsSync(COMMAND)) installPackage('chromium', console.error);
  if (spawnSync(COMMAND, ['--version']).status === 0) return COMMAND;
  throw new Error(
    `No Chromium that runs at ${COMMAND}. The browser's tests need it: install it, for example with ` +
      '"sudo apt-get install chromium", or set CHROMIUM to the path of one.',
  );
}

export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: requireChromium(),
    args: CHROMIUM_ARGUMENTS,
    // Playwright would forbid to put pages aside for the back button, as people's browsers do.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  return stopAtEnd(browser, () => browser.close());
}
