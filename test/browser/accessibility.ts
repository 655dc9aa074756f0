import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import { Page } from 'playwright-core';
import { ChatPage } from './chat-page';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of axe: those for WCAG 2.2 up to AA, and its best practices. */
const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations', 'incomplete'],
  rules: { 'label-content-name-mismatch': { enabled: true } },
};

/** Returns axe's findings in the widget, a line for each element. */
export async function accessibilityFaults(visitor: ChatPage): Promise<string[]> {
  // An element that is still fading in does not have its colour yet.
  await visitor.comeToRest();
  // axe measures contrasts inside the body alone. The widget stays where a page puts it.
  await visitor.page.evaluate(() => document.body.append(document.querySelector('chat-widget')!));
  await visitor.comeToRest();
  return accessibilityFaultsOf(visitor.page, 'chat-widget');
}

/** Returns axe's findings below an element, a line for each element. */
export async function accessibilityFaultsOf(page: Page, root: string): Promise<string[]> {
  // The debugger evaluates it, because a page's policy may forbid another script.
  await page.evaluate(AXE);
  const { violations, incomplete } = await page.evaluate(
    ([element, options]) =>
      (window as unknown as { axe: { run(root: string, options: RunOptions): Promise<AxeResults> } }).axe.run(
        element,
        options,
      ),
    [root, OPTIONS] as const,
  );
  // Where axe can't tell a contrast, a person must look at it.
  const unclear = incomplete
    .filter(({ id }) => id === 'color-contrast')
    // axe never can tell the contrast of a drawing's text.
    .map((result) => ({ ...result, nodes: result.nodes.filter(({ html }) => !html.startsWith('<text')) }));
  return [...violations, ...unclear].flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)} ${failureSummary ?? ''}`),
  );
}
