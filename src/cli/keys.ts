/** `countersign keys`: the secret of the instance, and a new master key. */
import type { Command } from 'commander'
import type { Config } from '../config.js'
import {
  isKeyFileUsed,
  loadMasterKey,
  masterKeyId,
  newMasterKey,
  readMasterKeyFile,
  replaceKeyFile,
} from '../crypto/master-key.js'
import { sealKeys } from '../crypto/service-keys.js'
import type { Ledger } from '../ledger.js'
import { withLedger } from './ledger.js'
import { action, CommandError, type OutputOptions, print, UsageError } from './output.js'

interface RotateOptions extends OutputOptions {
  newKeyFile?: string
  finish?: boolean
}

export function registerKeysCommands(keys: Command): void {
  keys
    .command('instance-secret')
    .description('print the secret that signs responses for which no tenant is known (kid=instance)')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        await withLedger(async ({ keys: { instance } }) => {
          const secret = instance.toString('hex')
          print(options, { id: 'instance', secret }, () => secret)
        })
      }),
    )
  keys
    .command('rotate-master')
    .description('seal every key under a new master key; the service may be running')
    .option('--new-key-file <file>', 'the new master key, where it does not live in the key file; mode 0600')
    .option('--finish', 'forget every master key but the configured one')
    .option('--json', 'print JSON')
    .action(
      action(async (options: RotateOptions) => {
        if (options.finish && options.newKeyFile)
          throw new UsageError(
            'invalid_option',
            '--finish and --new-key-file are two steps: give one of them.',
          )
        await withLedger((ledger, config) =>
          options.finish ? finish(options, ledger, config) : rotate(options, ledger, config),
        )
      }),
    )
}

async function rotate(options: RotateOptions, ledger: Ledger, config: Config): Promise<void> {
  if (!options.newKeyFile && !isKeyFileUsed(config))
    throw new CommandError(
      'new_key_needed',
      'The master key comes from outside, so that the new one must, too: make one with `openssl rand -base64 32`, keep it where ' +
        'the old one is kept, and name a file with it: --new-key-file <file>.',
    )
  const previousId = masterKeyId(loadMasterKey(config))
  const next = options.newKeyFile ? readMasterKeyFile(options.newKeyFile) : newMasterKey()
  const nextId = masterKeyId(next)
  if (nextId === previousId) throw new CommandError('same_key', 'That is the present master key.')
  const sealed = sealKeys(ledger.keys, next, nextId)
  // From here on both open the database, so that a crash between the steps locks nobody out.
  await ledger.store.transaction((tx) =>
    tx.putKeyring({ masterKeyId: nextId, sealed, createdAt: Date.now() }),
  )
  if (isKeyFileUsed(config) && !options.newKeyFile) {
    replaceKeyFile(config.masterKeyFile, next)
    await ledger.store.transaction((tx) => tx.deleteKeyring(previousId))
    print(
      options,
      { master_key_id: nextId, previous: null },
      () => `Master key ${nextId} is in ${config.masterKeyFile}; ${previousId} opens the database no more.`,
    )
  } else
    print(
      options,
      { master_key_id: nextId, previous: previousId },
      () =>
        `Master key ${nextId} opens the database, as ${previousId} still does. Configure the new one, restart the service,\n` +
        'and then run: countersign keys rotate-master --finish',
    )
}

async function finish(options: RotateOptions, { store }: Ledger, config: Config): Promise<void> {
  const id = masterKeyId(loadMasterKey(config))
  const forgotten = await store.transaction(async (tx) => {
    const others = (await tx.keyrings()).filter(({ masterKeyId: one }) => one !== id)
    for (const { masterKeyId: one } of others) await tx.deleteKeyring(one)
    return others.map(({ masterKeyId: one }) => one)
  })
  print(options, { master_key_id: id, forgotten }, () =>
    forgotten.length === 0
      ? `Only master key ${id} opens the database.`
      : `Only master key ${id} opens the database; forgotten: ${forgotten.join(', ')}.`,
  )
}
