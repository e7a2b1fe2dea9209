/** Serves the route handlers of a Next.js application over node:http: node route-handlers.mjs <folder of routes>. It prints its address. */
import { createServer } from 'node:http'
import { join } from 'node:path'

const [folder] = process.argv.slice(2)

const server = createServer(async (incoming, outgoing) => {
  const url = new URL(incoming.url, process.env.BANK_URL)
  const handlers = await import(join(folder, url.pathname, 'route.js'))
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method } = incoming
  const body = method === 'GET' ? undefined : Buffer.concat(chunks)
  const request = new Request(url, { method, headers: Object.entries(incoming.headers), body })
  const response = await handlers[method](request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  process.env.BANK_URL = `http://127.0.0.1:${server.address().port}`
  console.log(process.env.BANK_URL)
})
