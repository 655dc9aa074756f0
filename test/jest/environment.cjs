const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

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

  /** @param {import('@jest/environment').JestEnvironmentConfig} config */
  constructor({ projectConfig: config }) {
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
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
