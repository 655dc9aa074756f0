const base = require('./jest.config.cjs');

// Runs all tests of a feature, those of the system too: npm run test:feature -- test/webhooks.
module.exports = {
  ...base,
  testMatch: [...base.testMatch, '<rootDir>/test/*/*.{process,slow}.ts'],
  maxWorkers: 2,
};
