// Nest 12 and a few other packages are ESM only, and Jest on Node 20 cannot require() ESM:
// everything, those packages included, is compiled to CommonJS by swc on its way into a test.
const swc = require('@swc/jest').createTransformer({
  swcrc: false,
  // In a file beside the code: inline maps are read and scanned with each module that a test file loads.
  sourceMaps: true,
  module: { type: 'commonjs', ignoreDynamic: false },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
});

/** `import.meta` has no CommonJS twin in swc: spelled out here for the packages that use it. */
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
