const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const path = require('node:path');
const NOT_ON_CITUS = require('../citus/not-on-citus.cjs');

/** Globals in which libraries keep what decorators say of a test file's classes. */
const DECORATED = ['typeormMetadataArgsStorage', 'classValidatorMetadataStorage'];

/**
 * Jest's environment, with the worker's own globals instead of copies in a context of its own, so that a test
 * file shares libraries with the files before it. At a file's end it restores the environment variables, and
 * forgets the file's decorators.
 */
module.exports = class HostEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  variables = { ...process.env };

  /** Names of tests of this file that are not run, and have not been met yet. */
  skipped = new Set();

  /**
   * @param {import('@jest/environment').JestEnvironmentConfig} config
   * @param {import('@jest/environment').EnvironmentContext} context
   */
  constructor({ projectConfig: config }, { testPath }) {
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    if (process.env.TEST_CITUS === 'true')
      this.skipped = new Set(Object.keys(NOT_ON_CITUS[path.relative(config.rootDir, testPath)] ?? {}));
  }

  /** @param {import('@jest/types').Circus.Event} event */
  handleTestEvent(event) {
    if (event.name === 'test_start' && this.skipped.delete(fullNameOf(event.test))) event.test.mode = 'skip';
    if (event.name === 'run_finish' && this.skipped.size > 0)
      throw new Error(
        `test/citus/not-on-citus.cjs names no test of this file: ${[...this.skipped].join('; ')}`,
      );
  }

  setup() {
    return Promise.resolve();
  }

  teardown() {
    this.fakeTimersModern.dispose();
    for (const name of DECORATED) Reflect.deleteProperty(globalThis, name);
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    return Promise.resolve();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Returns what Jest insists on; the runtime compiles without a context. */
  getVmContext() {
    return globalThis;
  }
};

/**
 * @param {import('@jest/types').Circus.TestEntry | import('@jest/types').Circus.DescribeBlock} block
 * @returns {string} the names of the blocks around a test, and its own
 */
function fullNameOf({ name, parent }) {
  return parent?.parent ? `${fullNameOf(parent)} ${name}` : name;
}
