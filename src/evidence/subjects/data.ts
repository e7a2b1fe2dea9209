/** Judges what is kept of people: how it is sealed, how long it stays, and how it goes. */
import { dirname } from 'node:path'
import { type Config, isPostgres, sqliteFile } from '../../config/config.js'
import { isKeyFileUsed } from '../../crypto/master-key.js'
import { always, type Evidence, judged, met, partly } from '../evidence.js'

/** True where one stolen disk gives the database and the key that opens it. */
function isKeyBesideDatabase(config: Config): boolean {
  if (!isKeyFileUsed(config)) return false
  const folders = [config.dataDir, ...(isPostgres(config) ? [] : [dirname(sqliteFile(config))])]
  return folders.includes(dirname(config.masterKeyFile))
}

/** Templates, secrets and kept responses in the database. */
export const sealing: Evidence = judged(
  ({ config }) =>
    isKeyBesideDatabase(config)
      ? partly(
          'Templates are sealed by AES-256-GCM under a key of each user; the master key lies in the data folder, so one disk gives both.',
          'masterKeyFile',
        )
      : met(
          'Templates are sealed by AES-256-GCM under a key of each user, which a master key kept elsewhere wraps.',
        ),
  {
    settings: ['masterKeyFile'],
    tests: [
      'test/users/template-vault.test.ts',
      'test/crypto/sealed-box.test.ts',
      'test/crypto/master-key.test.ts',
      'test/keys/master-key-rotation.test.ts',
    ],
    documents: ['operations/keys-and-backups.md#the-master-key', 'threat-model.md#assets'],
  },
)

/** Erasure of a user, in every copy. */
export const erasure: Evidence = judged(
  ({ config }) => {
    if (!isPostgres(config))
      return met(
        "Erasure destroys the user's data key; backups hold none, so the next one completes it in all copies.",
      )
    if (config.epochKeys === undefined)
      return partly(
        "Erasure destroys the user's data key; without epoch keys, archives and base backups still open with the master key.",
        'epochKeys',
      )
    return config.epochHours === 0
      ? partly(
          'Archives lose erased users when an operator begins an epoch; none begins automatically.',
          'epochHours',
        )
      : met(
          `Erasure destroys the user's data key; archives lose it within ${config.epochHours + config.epochRetentionHours} hours, when the epoch's key is destroyed.`,
        )
  },
  {
    settings: ['epochKeys', 'epochHours'],
    tests: [
      'test/api/delete.test.ts',
      'test/audit/erasure.test.ts',
      'test/cli/backup.test.ts',
      'test/storage/sqlite/sqlite-erasure.test.ts',
      'test/cluster/erasure-archive.test.ts',
    ],
    documents: ['guides/privacy.md#erasure', 'postgresql.md#erasure'],
  },
)

/** Data that are kept at all. */
export const minimization: Evidence = always(
  met(
    'Photos and frames are kept nowhere; captures stay as vectors for 24 hours; users are pseudonyms in database, log and audit log.',
  ),
  {
    tests: [
      'test/app/logging.test.ts',
      'test/users/template-vault.test.ts',
      'test/storage/conformance/expiry.test.ts',
    ],
    documents: ['guides/privacy.md#what-is-kept'],
  },
)

/** How long references stay. */
export const retention: Evidence = always(
  partly(
    'Captures, kept responses and sandbox users expire. References of production stay until your application calls delete, or until the policy of a tenant erases users whom nobody uses; no policy does so by default.',
  ),
  {
    tests: [
      'test/storage/conformance/expiry.test.ts',
      'test/api/sandbox-limits.test.ts',
      'test/admin/inactive-users.test.ts',
    ],
    documents: ['guides/privacy.md#what-is-kept', 'guides/policy.md#erase-users-whom-nobody-uses'],
  },
)

export const consent: Evidence = always(
  partly(
    'The hosted page takes consent before the camera and keeps the text shown. The API keeps the consent that you send. It demands one only where the policy of a tenant names it.',
  ),
  {
    tests: [
      'test/capture-page/capture-page.test.ts',
      'test/api/enroll.test.ts',
      'test/api/policy.test.ts',
      'test/cli/tenant-consent-text.test.ts',
      'test/storage/conformance/consent-texts.test.ts',
    ],
    documents: ['guides/privacy.md#by-regulation', 'guides/capture.md#consent', 'guides/dpia.md'],
  },
)

/** Whether a stolen template gives the face, or another user. */
export const irreversibility: Evidence = always(
  partly(
    'Templates are sealed and rotated by keys. Anyone who has the keys as well can undo both and roughly reconstruct a face.',
  ),
  {
    tests: ['test/users/template-transform.test.ts', 'test/users/template-vault.test.ts'],
    documents: ['threat-model.md#assets'],
  },
)

export const unlinkability: Evidence = always(
  met(
    'A key of tenant and enrollment rotates each template: without the keys, two templates of a person cannot be compared.',
  ),
  { tests: ['test/users/template-transform.test.ts'], documents: ['threat-model.md#attackers'] },
)

export const renewal: Evidence = always(
  met(
    'A reference is replaced or erased at any time, and the next enrollment is rotated by another key. The face itself stays the same.',
  ),
  {
    tests: [
      'test/users/template-transform.test.ts',
      'test/api/replace-verdict.test.ts',
      'test/api/delete.test.ts',
    ],
    documents: ['guides/production.md#a-verdict-before-a-face-is-replaced'],
  },
)
