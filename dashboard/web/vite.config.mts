import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: { outDir: '../dist/web', emptyOutDir: true, sourcemap: false },
  // The server puts a nonce of its own into each answer.
  html: { cspNonce: '{{nonce}}' },
  server: { proxy: { '/api': 'http://localhost:3100' } },
});
