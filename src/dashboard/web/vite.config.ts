import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: '../../../dist/src/dashboard/web',
    emptyOutDir: true,
    // The content policy allows only scripts, styles and pictures that are files of their own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/api-reference.html`],
      // The timings of the bundler's plugins do not help anyone who builds the service.
      checks: { pluginTimings: false },
    },
  },
})
