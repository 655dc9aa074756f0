// Generates clients from the built service's documents with the generators of other languages, and compiles
// them. Go and Maven fetch the generators. What is not installed here is skipped, and the summary says so.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import 'reflect-metadata';
import { Config } from '#dist/config/config.js';
import { readOpenApiDocuments } from '#dist/app/create-app.js';
import { toOpenApi30 } from '#dist/openapi/openapi-30.js';

const ROOT = resolve(import.meta.dirname, '../..');
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';

/**
 * Generator with a compiler.
 *
 * @typedef {object} Generator
 * @property {string} name
 * @property {string[]} needs programs
 * @property {string[]} documents versions of OpenAPI
 * @property {(document: string, folder: string) => void} generate
 * @property {(folder: string) => void} compile
 */

const folder = mkdtempSync(join(tmpdir(), 'messaging-generators-'));

/**
 * @param {string} program
 * @param {string[]} given
 * @param {string} [cwd]
 */
function run(program, given, cwd = folder) {
  return execFileSync(program, given, {
    cwd,
    stdio: 'pipe',
    encoding: 'utf8',
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod' },
  });
}

/** @param {string} program */
const isInstalled = (program) => spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;

/** @param {string} name */
const openApiGenerator = (name) => (/** @type {string} */ document, /** @type {string} */ target) =>
  void run('java', ['-jar', fetchGenerator(), 'generate', '-i', document, '-g', name, '-o', target]);

/** Fetches the generator when it is first called, and returns its file. */
function fetchGenerator() {
  const [, artifact, version] = OPENAPI_GENERATOR.split(':');
  const file = `${artifact}-${version}.jar`;
  if (!readdirSync(folder).includes(file))
    run('mvn', ['-q', 'dependency:copy', `-Dartifact=${OPENAPI_GENERATOR}`, `-DoutputDirectory=${folder}`]);
  return join(folder, file);
}

/** @param {string} target */
function compileGo(target) {
  run('go', ['mod', 'tidy'], target);
  run('go', ['build', './...'], target);
}

/** @type {Generator[]} */
const GENERATORS = [
  {
    name: 'oapi-codegen (Go)',
    needs: ['go'],
    documents: ['3.1', '3.0'],
    generate: (document, target) => {
      run('go', ['install', OAPI_CODEGEN]);
      run('go', ['mod', 'init', 'example.test/api'], target);
      const code = run(join(folder, 'oapi-codegen'), [
        '-generate',
        'types,client',
        '-package',
        'api',
        document,
      ]);
      writeFileSync(join(target, 'api.go'), code);
    },
    compile: compileGo,
  },
  {
    name: 'openapi-generator (Go)',
    needs: ['java', 'mvn', 'go'],
    documents: ['3.1', '3.0'],
    generate: openApiGenerator('go'),
    compile: compileGo,
  },
  {
    name: 'openapi-generator (Java)',
    needs: ['java', 'mvn'],
    documents: ['3.1', '3.0'],
    generate: openApiGenerator('java'),
    compile: (target) => void run('mvn', ['-q', 'compile', '-Dmaven.test.skip'], target),
  },
  {
    name: 'openapi-generator (Python)',
    needs: ['java', 'mvn', 'python3'],
    // It writes no types for webhooks of 3.1, and so no Python.
    documents: ['3.0'],
    generate: openApiGenerator('python'),
    compile: (target) => void run('python3', ['-m', 'compileall', '-q', '.'], target),
  },
  {
    name: 'openapi-generator (TypeScript)',
    needs: ['java', 'mvn'],
    // As for Python.
    documents: ['3.0'],
    generate: openApiGenerator('typescript-fetch'),
    compile: (target) =>
      void run(
        join(ROOT, 'node_modules/.bin/tsc'),
        ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', 'index.ts'],
        target,
      ),
  },
];

const { api } = await readOpenApiDocuments(
  // Nothing is connected: the addresses need only be of the right form.
  Config.from({
    DATABASE_URL: 'postgresql://localhost/none',
    REDIS_URL: 'redis://localhost',
    SECRETS_KEYS: `generators:${Buffer.alloc(32).toString('base64')}`,
  }),
);
const documents = { 3.1: api, '3.0': toOpenApi30(api) };
for (const [version, document] of Object.entries(documents))
  writeFileSync(join(folder, `${version}.json`), JSON.stringify(document));

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const { name, needs, documents: versions, generate, compile } of GENERATORS)
  for (const version of versions) {
    const title = `${name}, OpenAPI ${version}`;
    const missing = needs.filter((program) => !isInstalled(program));
    if (missing.length > 0) {
      counts.skipped++;
      console.log(`SKIPPED ${title}: ${missing.join(', ')} is not installed`);
      continue;
    }
    const target = join(folder, `${name}-${version}`.replace(/\W+/g, '-'));
    mkdirSync(target);
    try {
      generate(join(folder, `${version}.json`), target);
      compile(target);
      counts.passed++;
      console.log(`passed ${title}`);
    } catch (error) {
      counts.failed++;
      const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
      console.log(`FAILED ${title}: ${String(error)}\n${stdout}${stderr}`);
    }
  }
rmSync(folder, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
