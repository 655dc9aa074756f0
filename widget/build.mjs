import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

// Vite reads it: tests set another one, and must get the same files.
process.env.NODE_ENV = 'production';

const OUT_DIR = fileURLToPath(new URL('../dist/widget', import.meta.url));
const source = (path) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** Of all builds. Browsers of the last two and a half years: docs/widget.md. */
const COMMON = {
  configFile: false,
  logLevel: 'warn',
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};
const COMMON_BUILD = {
  // Or the build would replace light-dark() by longer rules.
  cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
  target: 'es2022',
  outDir: OUT_DIR,
  modulePreload: false,
  reportCompressedSize: false,
};

/** The app first: its name has a hash of its content, and the loader must know it. */
async function buildApp() {
  await build({
    ...COMMON,
    base: './',
    build: {
      ...COMMON_BUILD,
      emptyOutDir: true,
      rolldownOptions: {
        input: { app: source('app.ts') },
        // The loader calls what the app exports.
        preserveEntrySignatures: 'exports-only',
        output: {
          format: 'es',
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
        },
      },
    },
  });
  const names = await readdir(`${OUT_DIR}/assets`);
  const app = names.find((name) => /^app-.*\.js$/.test(name));
  if (!app) throw new Error('The build made no app-<hash>.js.');
  return `assets/${app}`;
}

/** One classic script: a module could not read the script element that it came from. */
async function buildLoader(appPath) {
  await build({
    ...COMMON,
    define: { APP_PATH: JSON.stringify(appPath) },
    build: {
      ...COMMON_BUILD,
      emptyOutDir: false,
      rolldownOptions: {
        input: source('loader/main.ts'),
        output: { format: 'iife', entryFileNames: 'v1.js' },
      },
    },
  });
}

await buildLoader(await buildApp());
