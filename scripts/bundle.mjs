// Bundles the built service and CLI with the packages that they import: one chunk for each package, and few
// for the files of this project. A process starts in less time and holds fewer texts of modules.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const FOLDER = join(DIST, 'bundle');
const ENTRIES = { main: '', cli: '#!/usr/bin/env node\n' };
/** Packages with native parts, which an installation may lack. */
const OUTSIDE = ['@node-rs/argon2', 'msgpackr-extract'];

/** @param {string} id */
function isExternal(id) {
  if (/^[./\0]/.test(id) || isBuiltin(id)) return isBuiltin(id);
  return OUTSIDE.includes(id) || !isInstalled(id);
}

/**
 * Reports whether a package is installed. Libraries ask for optional ones, and catch that they are missing.
 *
 * @param {string} id
 */
function isInstalled(id) {
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  return existsSync(join(DIST, '../node_modules', name));
}

/**
 * Returns the folder of the package that has a file.
 *
 * @param {string} file
 */
function packageFolderOf(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

/**
 * Makes Nest load packages in a way that the bundler sees. Otherwise it would load second copies of them.
 *
 * @type {import('vite').Plugin}
 */
const visibleRequire = {
  name: 'visible-require',
  transform: {
    filter: { id: /node_modules\/@nestjs\// },
    handler: (code) => code.replace(/^const require = createRequire\(import\.meta\.url\);$/m, ''),
  },
};

/**
 * Escapes the characters beyond Latin-1 of all chunks: one of them would double the memory for its chunk.
 *
 * @type {import('vite').Plugin}
 */
const latin1 = {
  name: 'latin-1',
  generateBundle: (_, chunks) => {
    for (const chunk of Object.values(chunks))
      if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[\u0100-\uffff]/g, escapeUnit);
  },
};

/** @param {string} unit of UTF-16 */
function escapeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns the licenses of the packages whose files are in the bundle.
 *
 * @param {Iterable<string>} files
 */
function licensesOf(files) {
  const folders = [...files].flatMap((file) => packageFolderOf(file) ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const notices = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const notice = notices.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    return `${name} ${version}, ${license}\n\n${notice}`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n`);
}

const built = await build({
  configFile: false,
  logLevel: 'error',
  plugins: [visibleRequire, latin1],
  ssr: { noExternal: true, resolve: { mainFields: ['main'] } },
  resolve: { mainFields: ['main'] },
  build: {
    ssr: true,
    outDir: FOLDER,
    minify: false,
    rolldownOptions: {
      input: Object.keys(ENTRIES).map((name) => join(DIST, `${name}.js`)),
      external: isExternal,
      output: {
        format: 'cjs',
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        comments: false,
        keepNames: true,
        strictExecutionOrder: true,
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: (id) => packageFolderOf(id)?.replace(/^.*node_modules\//, '') ?? null }],
        },
      },
    },
  },
});
const { output } = /** @type {import('vite').Rolldown.RolldownOutput} */ (built);
const files = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
writeFileSync(join(FOLDER, 'LICENSES.txt'), licensesOf(files));
for (const [name, begin] of Object.entries(ENTRIES)) {
  writeFileSync(join(DIST, `${name}.js`), `${begin}require('./bundle/${name}.js');\n`);
  rmSync(join(DIST, `${name}.js.map`), { force: true });
}
