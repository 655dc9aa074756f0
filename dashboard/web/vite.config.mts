import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

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
  },
  server: { proxy: { '/api': 'http://localhost:3100', '/health': 'http://localhost:3100' } },
});
