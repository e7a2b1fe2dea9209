/** What is piped into a command. */

/** All of it, without the white space that ends it. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString().trimEnd()
}
