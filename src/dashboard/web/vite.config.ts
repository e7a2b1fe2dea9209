import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: '../../../dist/src/dashboard/web',
    emptyOutDir: true,
    // The content policy lets nothing run or show that is not a file of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/docs.html`],
      // How long its plugins took says nothing to whoever builds the service.
      checks: { pluginTimings: false },
    },
  },
})
