const base = require('./jest.config.cjs');

// Runs the suites of the whole system, which start many processes, wait long, build or install:
// npm run test:system.
module.exports = {
  ...base,
  // A topology runs the end-to-end tests, too.
  testMatch: process.env.TOPOLOGY
    ? base.testMatch
    : [
        '<rootDir>/test/(attack|browser|citus|chaos|packaging|plans|soak|topology)/**/*.spec.ts',
        '<rootDir>/test/*/*.process.ts',
      ],
  testPathIgnorePatterns: [
    '/node_modules/',
    // A server from outside has one database role, which may do everything.
    ...(process.env.DATABASE_URL ? ['database/database-roles\\.process'] : []),
    // The smoke test shows in half a minute what the full tests show in half an hour.
    ...(process.env.BROWSER === 'full' ? [] : ['test/browser/full/']),
    // Citus has a command of its own.
    ...(process.env.TEST_CITUS ? [] : ['test/citus/']),
    // The hour has a command of its own.
    ...(process.env.SOAK === 'full' ? [] : ['test/soak/']),
    // The screenshots are written into docs/.
    ...(process.env.SCREENSHOTS === 'write' ? [] : ['test/browser/full/screenshots']),
    // The upgrade needs git's history, and builds another version.
    ...(process.env.TOPOLOGY ? [] : ['topology/upgrade\\.spec']),
  ],
  maxWorkers: 2,
};
