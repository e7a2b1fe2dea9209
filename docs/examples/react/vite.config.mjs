/** The page is built and served here; what it asks goes to the backend, docs/examples/capture/server.mjs. */
const { BANK_URL = 'http://127.0.0.1:3000' } = process.env
const proxy = Object.fromEntries(['/challenges', '/guidance', '/transfers'].map((path) => [path, BANK_URL]))

export default { server: { proxy }, preview: { proxy } }
