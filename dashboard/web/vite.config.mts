import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Mantine's components on the first page after the login. */
const FIRST_COMPONENTS = [
  'ActionIcon',
  'Anchor',
  'Badge',
  'Button',
  'Center',
  'CloseButton',
  'Container',
  'EmptyState',
  'Group',
  'Input',
  'InputBase',
  'NativeSelect',
  'Portal',
  'Skeleton',
  'Stack',
  'Text',
  'TextInput',
  'Textarea',
  'Title',
  'Transition',
  'UnstyledButton',
];

const PUSH_WORKER = 'push-worker';

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    sourcemap: false,
    target: 'es2022',
    // The content security policy allows scripts and styles from here alone, and none in data addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A test sums up the files of each page.
    manifest: true,
    rolldownOptions: {
      input: { index: 'web/index.html', [PUSH_WORKER]: 'web/worker/push-worker.ts' },
      output: {
        // A browser finds the service worker's next build at the address of the last one.
        entryFileNames: ({ name }) => (name === PUSH_WORKER ? '[name].js' : 'assets/[name]-[hash].js'),
        // The libraries of the first page are one file, because dozens of small files compress badly.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: new RegExp(`/@mantine/core/esm/components/(${FIRST_COMPONENTS.join('|')})/|/@tanstack/`),
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://localhost:3100', '/health': 'http://localhost:3100' } },
});
