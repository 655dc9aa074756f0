// Builds dist/: the sources as ES modules and as CommonJS, each with the types that belong to it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = join(FOLDER, 'src');
const DIST = join(FOLDER, 'dist');
const { version } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
/** @type {[folder: string, type: string, module: ts.ModuleKind][]} */
const FORMATS = [
  ['esm', 'module', ts.ModuleKind.ESNext],
  ['cjs', 'commonjs', ts.ModuleKind.CommonJS],
];

/** Returns the compiler's options. The sources must do without the types of Node. */
function readOptions() {
  const { config } = ts.readConfigFile(join(FOLDER, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, FOLDER);
  return {
    files: parsed.fileNames,
    options: { ...parsed.options, noEmit: false, types: [], rootDir: SOURCES },
  };
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const { files, options } = readOptions();
const program = ts.createProgram(files, { ...options, emitDeclarationOnly: true });
const faults = ts.getPreEmitDiagnostics(program);
if (faults.length > 0) {
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => FOLDER, getNewLine: () => '\n' };
  console.error(ts.formatDiagnostics(faults, host));
  process.exit(1);
}

rmSync(DIST, { recursive: true, force: true });
for (const [folder, type, module] of FORMATS) {
  write(join(DIST, folder, 'package.json'), `${JSON.stringify({ type })}\n`);
  for (const file of files) {
    const source = (program.getSourceFile(file)?.text ?? '').replace(
      "VERSION = '0.0.0'",
      `VERSION = '${version}'`,
    );
    const { outputText } = ts.transpileModule(source, { compilerOptions: { ...options, module } });
    write(join(DIST, folder, relative(SOURCES, file).replace(/\.ts$/, '.js')), outputText);
  }
  program.emit(undefined, (file, text) =>
    // The compiler rewrites the names of imported files in code alone.
    write(join(DIST, folder, relative(SOURCES, file)), text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'")),
  );
}
