// Draws the Mermaid diagrams of docs/ into docs/images/diagrams, where the build of the site finds them by
// the hash of their text. It needs Chromium, and Mermaid, which nothing else needs:
//
//   npm install --no-save mermaid@11 && node scripts/docs/draw-diagrams.mjs
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { DIAGRAMS, diagramNameOf, ROOT } from './sources.mjs';

const require = createRequire(import.meta.url);
const library = process.env['MERMAID'] ?? require.resolve('mermaid/dist/mermaid.min.js');

const texts = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => {
    const blocks = readFileSync(join(ROOT, 'docs', name), 'utf8').matchAll(/^```mermaid\n([^]*?)\n```$/gm);
    return [...blocks].map(([, text]) => /** @type {string} */ (text));
  });

const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium' });
const page = await browser.newPage();
await page.addScriptTag({ path: library });
rmSync(DIAGRAMS, { recursive: true, force: true });
mkdirSync(DIAGRAMS, { recursive: true });
for (const text of texts) {
  const svg = await page.evaluate(
    `(async () => {
      mermaid.initialize({ startOnLoad: false, theme: 'neutral', htmlLabels: false, flowchart: { htmlLabels: false } });
      const { svg } = await mermaid.render('diagram', ${JSON.stringify(text)});
      return svg;
    })()`,
  );
  writeFileSync(join(DIAGRAMS, diagramNameOf(text)), `${String(svg)}\n`);
}
await browser.close();
