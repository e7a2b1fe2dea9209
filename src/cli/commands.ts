/** Table of contents of the command line: the name and purpose of each command, and the file behind it. */
import type { Command } from 'commander'
import type { ListedFeature } from '../features/feature.js'
import { FEATURES, openDataKeys, tablesOf } from '../features/index.js'
import { type CommandHost, type FeatureCommand, onTenants } from './lib/feature-command.js'

export interface CommandEntry {
  /** Name and arguments, in the syntax of commander. */
  usage: string
  description: string
  /** Imports the file that defines the command's options and work. Called only for the command that is run. */
  load(): Promise<(command: Command) => void>
  /** The command opens no configuration. */
  isWithoutConfig?: true
}

const CORE_COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'serve',
    description: 'run the service: production, sandbox and admin listeners',
    load: async () => (await import('./serve/serve.js')).registerServeCommand,
  },
  {
    usage: 'tenant',
    description: 'create tenants and manage their keys',
    load: async () => (await import('./tenant/tenant.js')).registerTenantCommands,
  },
  {
    usage: 'user',
    description: 'look up and unlock users',
    load: async () => (await import('./user.js')).registerUserCommands,
  },
  {
    usage: 'compare <a> <b>',
    description: 'compare the faces of two image files',
    load: async () => (await import('./compare.js')).registerCompareCommand,
  },
  {
    usage: 'evaluate <data>',
    description:
      'measure error rates on a folder with a subfolder for each person, or on a CSV of pairs (columns a,b,same)',
    load: async () => (await import('./evaluate/evaluate.js')).registerEvaluateCommand,
  },
  {
    usage: 'evaluate-pad <labels>',
    description:
      'measure presentation attack detection on a CSV of presentations (columns presentation,type,subject,species,device,condition,frames; optional reference,challenge)',
    load: async () => (await import('./evaluate/evaluate-pad.js')).registerEvaluatePadCommand,
  },
  {
    usage: 'jwt <token>',
    description: "check a verification JWT with the tenant's signing secret and show its claims",
    load: async () => (await import('./jwt.js')).registerJwtCommand,
    isWithoutConfig: true,
  },
  {
    usage: 'display <file>',
    description: 'show a typed action as the hosted page shows it, with the `display_hash` of a verdict',
    load: async () => (await import('./display.js')).registerDisplayCommand,
    isWithoutConfig: true,
  },
  {
    usage: 'fake',
    description: "run the SDK's service in memory for tests in any language; prints what a client needs",
    load: async () => (await import('./fake.js')).registerFakeCommand,
    isWithoutConfig: true,
  },
  {
    usage: 'models',
    description: 'list, verify, pull, import, build and calibrate model packs',
    load: async () => (await import('./models/models.js')).registerModelsCommands,
  },
  {
    usage: 'backup <file>',
    description: 'write a consistent copy of the database; the service may be running',
    load: async () => (await import('./backup/backup.js')).registerBackupCommand,
  },
  {
    usage: 'restore <file>',
    description: 'restore a backup as the database, without the users who were erased since',
    load: async () => (await import('./backup/backup.js')).registerRestoreCommand,
  },
  {
    usage: 'migrate',
    description: "bring an earlier version's database to this version's schema, as the first serve does",
    load: async () => (await import('./migrate.js')).registerMigrateCommand,
  },
  {
    usage: 'audit',
    description: 'verify and anchor the append-only audit logs',
    load: async () => (await import('./audit.js')).registerAuditCommands,
  },
  {
    usage: 'keys',
    description: 'the master key, epoch keys and the instance secret',
    load: async () => (await import('./keys/keys.js')).registerKeysCommands,
  },
  {
    usage: 'config',
    description: 'show and check the configuration',
    load: async () => (await import('./config/config.js')).registerConfigCommands,
  },
  {
    usage: 'nodes',
    description: 'list the services that serve from the database, and the master keys that each can read',
    load: async () => (await import('./nodes.js')).registerNodesCommand,
  },
  {
    usage: 'operator',
    description: 'operators with names and roles, who sign in to the dashboard',
    load: async () => (await import('./operator/operator.js')).registerOperatorCommands,
  },
  {
    usage: 'operator-password',
    description:
      'print the hash of a password for COUNTERSIGN_OPERATOR_PASSWORD, or reset the password in use',
    load: async () => (await import('./operator/operator-password.js')).registerOperatorPasswordCommand,
  },
  {
    usage: 'completion',
    description: 'print a completion script for bash, zsh or fish; completion --help says where to put it',
    load: async () => (await import('./completion.js')).registerCompletionCommand,
    isWithoutConfig: true,
  },
  {
    usage: 'doctor',
    description: 'check Node, addons, execution providers, models, database, disk and clock',
    load: async () => (await import('./doctor/doctor.js')).registerDoctorCommand,
  },
]

/** The commands of the core and of features, in the order of help and documents. */
export function commandsWith(features: readonly ListedFeature[]): CommandEntry[] {
  // Imported with the command that runs: help needs no database.
  const withCore: CommandHost['withCore'] = async (work, options) =>
    (await import('./with-core.js')).withCore(work, { features, ...options })
  const host: CommandHost = {
    loadConfig: async () => (await import('../app/configuration.js')).loadConfig(process.env, features),
    withCore,
    ...onTenants(withCore),
    databaseOf: async (config) => (await import('../app/database.js')).databaseOf(config, features),
    tables: tablesOf(features),
    openDataKeys: (parts) => openDataKeys(features, parts),
    moveOperatorPassword: async (...given) =>
      (await import('../dashboard/sign-in/operator-password.js')).moveOperatorPassword(...given),
  }
  const added = features.flatMap(({ commands = [] }) => commands)
  const entries = [...CORE_COMMANDS]
  for (const { load, after, ...named } of added.filter(({ parent }) => parent === undefined))
    entries.splice(
      placeBehind(
        after,
        entries.map(({ usage }) => usage),
      ),
      0,
      {
        ...named,
        load: async () => {
          const register = await load()
          return (command) => register(command, host)
        },
      },
    )
  return entries.map((entry) =>
    withSubcommands(
      entry,
      added.filter(({ parent }) => parent === entry.usage),
      host,
    ),
  )
}

/** @param names of commands or their usages @returns the place behind `after`, or the last */
function placeBehind(after: string | undefined, names: readonly string[]): number {
  const place = after === undefined ? -1 : names.indexOf(after)
  return place < 0 ? names.length : place + 1
}

/** A command of the core, with the subcommands that features add. */
function withSubcommands(
  entry: CommandEntry,
  added: readonly FeatureCommand[],
  host: CommandHost,
): CommandEntry {
  if (added.length === 0) return entry
  return {
    ...entry,
    async load() {
      const register = await entry.load()
      const registers = await Promise.all(added.map(({ load }) => load()))
      return (command) => {
        register(command)
        added.forEach(({ usage, description, after }, index) => {
          const siblings = command.commands as Command[]
          const place = placeBehind(
            after,
            siblings.map((one) => one.name()),
          )
          const child = command.command(usage).description(description)
          registers[index]!(child, host)
          siblings.splice(place, 0, siblings.pop()!)
        })
      }
    },
  }
}

export const COMMANDS = commandsWith(FEATURES)
