module.exports = {
  testEnvironment: '<rootDir>/test/jest/environment.cjs',
  runtime: '<rootDir>/test/jest/runtime.cjs',
  roots: [
    '<rootDir>/src',
    '<rootDir>/test',
    '<rootDir>/widget/src',
    '<rootDir>/dashboard/server/src',
    '<rootDir>/dashboard/web/src',
    '<rootDir>/client/test',
  ],
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // jest.system.cjs runs the suites of the whole system.
    '<rootDir>/test/(attack|browser|citus|chaos|packaging|plans|s3|soak|topology)/',
  ],
  // The examples import the package by its name, as its users do.
  moduleNameMapper: {
    '^conversation-messaging-service$': '<rootDir>/src/index.ts',
    '^conversation-messaging-service/(\\w+)$': '<rootDir>/src/index-$1.ts',
    '^@conversation-messaging/client$': '<rootDir>/client/src/index.ts',
  },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        // Maps are files beside the code: inline ones are read and scanned with each module that is loaded.
        sourceMaps: true,
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
      },
    ],
  },
  globalSetup: '<rootDir>/test/global-setup.mjs',
  globalTeardown: '<rootDir>/test/global-teardown.mjs',
  setupFiles: [
    'reflect-metadata',
    ...(process.env.RECORDED_STATEMENTS ? ['<rootDir>/test/citus/record-statements.ts'] : []),
  ],
  setupFilesAfterEnv: ['<rootDir>/test/jest/after-tests.ts'],
  collectCoverageFrom: ['src/**/*.ts', '!src/**/*.spec.ts'],
  coverageProvider: 'v8',
  // Most tests wait most of the time: five use one and a half of two cores.
  maxWorkers: 5,
  workerIdleMemoryLimit: '768MB',
  clearMocks: true,
  // Several waits of a test may each take long on a busy machine. A test of something fast has a limit of its
  // own.
  testTimeout: 60_000,
};
