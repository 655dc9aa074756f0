const { createRequire } = require('node:module');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * Jest's runtime, which loads TypeScript for each test file, and leaves all else to Node: a library is loaded
 * once in a worker, as in production, ES modules included. A test file that starts the service loads 700
 * modules instead of 3,200, and takes 1.6 s of processor time less.
 */
class HostRuntime extends Runtime {
  /** @param {ConstructorParameters<typeof Runtime>} options */
  constructor(...options) {
    super(...options);
    // A test and a library have the same globals: an error of a library is an `Error` of the test.
    const executor = this['executor'];
    executor['compile'] = (/** @type {string} */ source, /** @type {string} */ filename) =>
      compileFunction(source, executor['injectedModuleParameters'], { filename });
  }

  /**
   * @override
   * @type {Runtime['requireModule']}
   */
  requireModule(from, name, options, isRequireActual) {
    const path = name && !options?.isInternalModule ? this.pathForNode(from, name) : undefined;
    return path ? createRequire(from)(path) : super.requireModule(from, name, options, isRequireActual);
  }

  /**
   * Returns the path of a module that is not TypeScript. It heeds a package's `exports` and Jest's name map.
   *
   * @param {string} from path of the module that requires it
   * @param {string} name
   */
  pathForNode(from, name) {
    const resolution = this['_resolution'];
    if (resolution.isCoreModule(name)) return undefined;
    const path = resolution.resolveCjs(from, name);
    return path.endsWith('.ts') ? undefined : path;
  }
}

module.exports = HostRuntime;
