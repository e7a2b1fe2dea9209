/** Version, commit and oldest supported Node of this build. */
import { readFileSync } from 'node:fs'
import { packageFile } from './package-root.js'

const { version, engines } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}

export const VERSION = version

/** Commit of the build, twelve hexadecimal digits; `unknown` where the build did not record it. */
export const COMMIT = readCommit()

/** Oldest supported version of Node, such as `20.15.0`. */
export const OLDEST_NODE = engines.node.replace('>=', '')

function readCommit(): string {
  try {
    const { commit } = JSON.parse(readFileSync(packageFile('dist', 'build.json'), 'utf8')) as {
      commit: string
    }
    return commit
  } catch {
    return 'unknown'
  }
}
