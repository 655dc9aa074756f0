const base = require('./jest.config.cjs');

// Runs the tests that wait long for real time, and need little of the processor: npm run test:slow.
module.exports = {
  ...base,
  testMatch: ['<rootDir>/test/*/*.slow.ts'],
  maxWorkers: 4,
};
