import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['**/dist/', 'coverage/', '.data/', '**/*.cjs', '**/*.mjs'] },
  ...ts.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      // A type-only import of an injected class compiles, but breaks dependency injection.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/config/**', '**/*.spec.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config reads the environment.' },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['process', 'node:process'].map((name) => ({
            name,
            message: 'Only src/config reads the environment; the rest of process is a global.',
          })),
        },
      ],
    },
  },
  {
    files: ['widget/src/**'],
    rules: {
      // A page's strict policy for its content forbids style attributes, and a visitor's text must never
      // become HTML.
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name=/^(style|dangerouslySetInnerHTML)$/]',
          message: 'No style attributes and no HTML from text.',
        },
        {
          selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]',
          message: 'No HTML from text.',
        },
      ],
      'no-eval': 'error',
      'no-new-func': 'error',
    },
  },
  {
    files: ['src/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'MethodDefinition[value.returnType.typeAnnotation.typeName.name="Pipelined"][key.name!=/[pP]ipelined?$/]',
          message: 'A method that returns a Pipelined says so in its name.',
        },
      ],
    },
  },
  {
    files: ['test/**', '**/*.spec.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        // A test that does not run proves nothing.
        { selector: 'MemberExpression[property.name=/^(skip|only|todo)$/]', message: 'No test is left out.' },
        {
          selector: 'CallExpression[callee.name=/^(xit|xtest|xdescribe|fit|fdescribe)$/]',
          message: 'No test is left out.',
        },
        {
          selector: 'CallExpression[callee.object.name="jest"][callee.property.name=/^(fn|mock|doMock)$/]',
          message: 'Test what can be observed, against the real thing.',
        },
        // How long is enough depends on the machine. A receiver that is slow on purpose takes a callback with
        // a name.
        {
          selector: 'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"]',
          message: 'No fixed sleep: wait for what is meant (test/support/wait.ts).',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['timers/promises', 'node:timers/promises'].map((name) => ({
            name,
            importNames: ['setTimeout', 'scheduler', 'default'],
            message: 'No fixed sleep: wait for what is meant (test/support/wait.ts).',
          })),
        },
      ],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // Response bodies are untyped: the assertions check them.
      '@typescript-eslint/no-explicit-any': 'off',
    },
  },
  {
    // wait.ts is the one place that waits. In two suites the pace of load, faults and attacks is part of the
    // scenario.
    files: ['test/support/wait.ts', 'test/chaos/**', 'test/attack/**'],
    rules: { 'no-restricted-imports': 'off' },
  },
);
