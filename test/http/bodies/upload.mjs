/** Uploads of Node's own fetch in a process of its own: prints as JSON how often each status came, and each failure. */
const { url, method, headers, bytes, times, chunked } = JSON.parse(process.argv[2])
const body = Buffer.alloc(bytes, ' ')
const pieces = async function* () {
  for (let at = 0; at < bytes; at += 65_536) yield body.subarray(at, at + 65_536)
}
const told = {}
for (let i = 0; i < times; i++) {
  const key = await fetch(url, {
    method,
    headers,
    ...(chunked ? { body: ReadableStream.from(pieces()), duplex: 'half' } : { body }),
  }).then(
    async (response) => `${response.status} ${(await response.json()).code}`,
    (error) => String(error.cause?.code ?? error.cause ?? error),
  )
  told[key] = (told[key] ?? 0) + 1
}
console.log(JSON.stringify(told))
