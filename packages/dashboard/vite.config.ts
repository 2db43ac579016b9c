import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  // Relative: the server writes the path of the files into each page, below that where browsers see it.
  base: './',
  plugins: [react()],
  resolve: { alias: { '@gen': fileURLToPath(new URL('../../gen/proto', import.meta.url)) } },
  // The server replaces it by a fresh nonce in each page.
  html: { cspNonce: '__csp_nonce__' },
  build: {
    target: 'es2022',
    // Files are never embedded as data: URLs, which the policy of the page forbids for scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
