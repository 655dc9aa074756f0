const { createRequire } = require('node:module');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * Jest's runtime, which loads TypeScript for each test file, and leaves all else to Node: a library is loaded
 * once in a worker, as in production, ES modules included. A test file that starts the service loads 700
 * modules instead of 3,200, and takes 1.6 s of processor time less.
 */
class HostRuntime extends Runtime {
  constructor(...options) {
    super(...options);
    // Code of the test's and libraries' code have the same globals: an error of a library is an `Error` here.
    this.executor.compile = (source, filename) =>
      compileFunction(source, this.executor.injectedModuleParameters, { filename });
  }

  requireModule(from, name, options, isRequireActual) {
    const path = name && !options?.isInternalModule ? this.pathForNode(from, name) : undefined;
    return path ? createRequire(from)(path) : super.requireModule(from, name, options, isRequireActual);
  }

  /** Returns the path of a module that is not TypeScript; it heeds a package's `exports` and Jest's name map. */
  pathForNode(from, name) {
    if (this._resolution.isCoreModule(name)) return undefined;
    const path = this._resolution.resolveCjs(from, name);
    return /\.tsx?$/.test(path) ? undefined : path;
  }
}

module.exports = HostRuntime;
