const base = require('./jest.config.cjs');

// Runs the tests that need a server with S3's protocol, which test/s3/main.mjs starts: npm run test:s3.
module.exports = {
  ...base,
  testMatch: ['<rootDir>/test/s3/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
