/** The last stage of Dockerfile, which is the image. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

/** Instructions in their order, lines joined, without comments. */
export const IMAGE = readFileSync(packageFile('Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .at(-1)!
  .trim()
  .split('\n')
  .map((line) => {
    const [, name, rest] = /^(\w+) +(.*)$/.exec(line)!
    return { name: name!, rest: rest! }
  })

export function instruction(name: string): string | undefined {
  return IMAGE.find((one) => one.name === name)?.rest
}

/** Environment variables of every container of the image. */
export const IMAGE_ENVIRONMENT: Record<string, string> = Object.fromEntries(
  IMAGE.filter(({ name }) => name === 'ENV').flatMap(({ rest }) =>
    rest.split(/ +/).map((pair) => pair.split('=') as [string, string]),
  ),
)
