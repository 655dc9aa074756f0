import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import { Page } from 'playwright-core';
import { ChatPage } from './chat-page';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Everything that axe knows of WCAG 2.2 up to AA, and of what is usual. */
const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations', 'incomplete'],
};

/** Returns axe's findings in the widget, a line for each element. */
export async function accessibilityFaults(visitor: ChatPage): Promise<string[]> {
  // Half faded in, nothing has its colour.
  await visitor.comeToRest();
  return accessibilityFaultsOf(visitor.page, 'chat-widget');
}

/** Returns axe's findings below an element, a line for each element. */
export async function accessibilityFaultsOf(page: Page, root: string): Promise<string[]> {
  // Evaluated by the debugger, because a page's policy may forbid another script.
  await page.evaluate(AXE);
  const { violations, incomplete } = await page.evaluate(
    ([element, options]) =>
      (window as unknown as { axe: { run(root: string, options: RunOptions): Promise<AxeResults> } }).axe.run(
        element,
        options,
      ),
    [root, OPTIONS] as const,
  );
  // Where axe can't tell a contrast, nobody has shown that it is enough.
  const unclear = incomplete
    .filter(({ id }) => id === 'color-contrast')
    // It never can of a drawing's text.
    .map((result) => ({ ...result, nodes: result.nodes.filter(({ html }) => !html.startsWith('<text')) }));
  return [...violations, ...unclear].flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)} ${failureSummary ?? ''}`),
  );
}
