import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

// Vite reads this variable: tests set another one, and must get the same files.
process.env.NODE_ENV = 'production';

const OUT_DIR = fileURLToPath(new URL('../dist/widget', import.meta.url));
const source = (path) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/**
 * Settings of all builds. They support the browsers of the last two and a half years: docs/how-to/widget.md.
 */
const COMMON = {
  configFile: false,
  logLevel: 'warn',
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};
const COMMON_BUILD = {
  // With older targets the build would replace light-dark() by longer rules.
  cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
  target: 'es2022',
  outDir: OUT_DIR,
  modulePreload: false,
  reportCompressedSize: false,
};

/**
 * Replaces Vite's function around each dynamic import, which would load style sheets first. The widget has no
 * such sheets, and the function has 660 bytes (gzipped).
 */
const PLAIN_IMPORTS = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined,
};

/** Settings of a module whose name has a hash of its content, and whose exports another module calls. */
const MODULE = {
  preserveEntrySignatures: 'exports-only',
  output: {
    format: 'es',
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/[name]-[hash].js',
  },
};

/** Builds the parts that draw files. They go first: the app must contain their name. */
async function buildFileParts() {
  await build({
    ...COMMON,
    resolve: { alias: { 'preact/jsx-runtime': source('file-parts/jsx-runtime.ts') } },
    build: {
      ...COMMON_BUILD,
      emptyOutDir: true,
      rolldownOptions: { ...MODULE, input: { files: source('file-parts/main.tsx') } },
    },
  });
  return (await nameOf('files')).replace('assets/', './');
}

/** Builds the form for an e-mail address. The app must contain its name too. */
async function buildMailForm() {
  await build({
    ...COMMON,
    build: {
      ...COMMON_BUILD,
      emptyOutDir: false,
      rolldownOptions: { ...MODULE, input: { mail: source('answers-by-mail/main.ts') } },
    },
  });
  return (await nameOf('mail')).replace('assets/', './');
}

/** Builds the app. Its name has a hash of its content, and the loader must contain the name. */
async function buildApp(filePartsPath, mailFormPath) {
  await build({
    ...COMMON,
    plugins: [PLAIN_IMPORTS],
    base: './',
    define: { FILE_PARTS_PATH: JSON.stringify(filePartsPath), MAIL_FORM_PATH: JSON.stringify(mailFormPath) },
    build: {
      ...COMMON_BUILD,
      emptyOutDir: false,
      rolldownOptions: { ...MODULE, input: { app: source('app.ts') } },
    },
  });
  return nameOf('app');
}

async function nameOf(module) {
  const names = await readdir(`${OUT_DIR}/assets`);
  const name = names.find((one) => one.startsWith(`${module}-`) && one.endsWith('.js'));
  if (!name) throw new Error(`The build made no ${module}-<hash>.js.`);
  return `assets/${name}`;
}

/** Builds the loader as one classic script: a module could not find the script element that loaded it. */
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

await buildLoader(await buildApp(await buildFileParts(), await buildMailForm()));
