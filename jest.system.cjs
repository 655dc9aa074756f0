const base = require('./jest.config.cjs');

// The suites of the whole system, which start many processes, build or install: npm run test:system.
module.exports = {
  ...base,
  // A topology runs the end-to-end tests, too.
  testMatch: process.env.TOPOLOGY
    ? base.testMatch
    : ['<rootDir>/test/(attack|browser|chaos|packaging|topology)/**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // What it does in half an hour, the smoke shows in half a minute.
    ...(process.env.BROWSER === 'full' ? [] : ['test/browser/full/']),
    // It writes into docs/.
    ...(process.env.SCREENSHOTS === 'write' ? [] : ['test/browser/full/screenshots']),
    // It needs git's history, and builds another version.
    ...(process.env.TOPOLOGY ? [] : ['topology/upgrade\\.spec']),
  ],
  maxWorkers: 2,
};
