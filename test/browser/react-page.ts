import { readFileSync } from 'node:fs';
import { Page } from 'playwright-core';

/** Files of React, by the names that they ask each other for. */
const MODULES = {
  react: 'react/cjs/react.production.js',
  'react-dom': 'react-dom/cjs/react-dom.production.js',
  'react-dom/client': 'react-dom/cjs/react-dom-client.production.js',
  scheduler: 'scheduler/cjs/scheduler.production.js',
};

/** Hydrates the whole document with React over other HTML, so that React draws the document anew. */
export async function failHydration(page: Page): Promise<void> {
  const functions = Object.entries(MODULES).map(([name, file]) => {
    // The packages export no paths of files.
    const path = `${__dirname}/../../node_modules/${file}`;
    return `${JSON.stringify(name)}: function (module, exports) { ${readFileSync(path, 'utf8')} }`;
  });
  await page.evaluate(`(() => {
    const files = { ${functions.join(',\n')} };
    const loaded = {};
    const process = { env: {} };
    function require(name) {
      if (!loaded[name]) {
        const module = (loaded[name] = { exports: {} });
        files[name](module, module.exports);
      }
      return loaded[name].exports;
    }
    const { createElement: h } = require('react');
    const main = h('main', null, 'Drawn by React ' + Date.now());
    const html = h('html', { lang: 'en' }, h('head', null, h('title', null, 'Tea shop')), h('body', null, main));
    require('react-dom/client').hydrateRoot(document, html, { onRecoverableError() {} });
  })()`);
  await page.getByText('Drawn by React').waitFor();
}
