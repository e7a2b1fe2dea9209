/** Reads the text that is piped into a command. */

/** The whole input, without the white space at its end. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString().trimEnd()
}
