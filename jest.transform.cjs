// Compiles everything to CommonJS by swc on its way into a test, packages included: Nest 12 and a few other
// packages are ESM only, and Jest on Node 20 cannot require() ESM.
const swc = require('@swc/jest').createTransformer({
  swcrc: false,
  // Source maps are in files beside the code: inline maps would be read and scanned with each module that a
  // test file loads.
  sourceMaps: true,
  module: { type: 'commonjs', ignoreDynamic: false },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
});

/** Replaces `import.meta`, for which swc's CommonJS has no equivalent, for the packages that use it. */
const withoutImportMeta = (source) =>
  !source.includes('import.meta')
    ? source
    : source
        .replace(/^const __dirname = .*\bimport\.meta\.url\b.*$/m, '')
        .replace(/\bimport\.meta\.url\b/g, "require('node:url').pathToFileURL(__filename).href")
        .replace(/\bimport\.meta\.dirname\b/g, '__dirname')
        .replace(/\bimport\.meta\.filename\b/g, '__filename')
        .replace(/\bimport\.meta\.resolve\(/g, 'require.resolve(')
        .replace(/^const require = createRequire\(.*\);$/m, '');

module.exports = {
  canInstrument: true,
  getCacheKey: (source, file, options) => `${swc.getCacheKey(source, file, options)}-cjs3`,
  process: (source, file, options) => swc.process(withoutImportMeta(source), file, options),
};
