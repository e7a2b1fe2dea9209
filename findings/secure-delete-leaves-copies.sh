#!/usr/bin/env bash
# Guess: with PRAGMA secure_delete = ON nothing of a deleted row is left in the file of the database, since SQLite
# overwrites what it deletes with zeros.
# What happens: when a page is full, SQLite moves rows to another page, and their old copies stay in the unused gap of
# the first. Deleting the row overwrites only its present copy, so a few rows in a thousand can still be read. VACUUM
# removes them.
# Why it matters: templates and keys of erased people can be found in the file. Encrypt what must go under a key for
# each person, or run VACUUM after erasures.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund node-sqlite3-wasm@0.8.60
cat >seen.cjs <<'EOF'
const { readFileSync } = require('node:fs')
const { Database } = require('node-sqlite3-wasm')

const database = new Database('people.db')
database.exec('PRAGMA secure_delete = ON; CREATE TABLE person (id INTEGER PRIMARY KEY, template BLOB)')
let seed = 1
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
  return seed / 0x7fffffff
}
const mark = (id) => `template ${String(id).padStart(6, '0')};`
const ids = Array.from({ length: 2000 }, (_, id) => ({ id, at: random() }))
ids.sort((a, b) => a.at - b.at)
database.exec('BEGIN')
for (const { id } of ids)
  database.run('INSERT INTO person VALUES (?, ?)', [id, Buffer.from(mark(id) + 'x'.repeat(random() * 300))])
database.exec('COMMIT; BEGIN')
for (let id = 0; id < 2000; id += 2) database.run('DELETE FROM person WHERE id = ?', [id])
database.exec('COMMIT')
const left = () => {
  const file = readFileSync('people.db', 'latin1')
  return ids.filter(({ id }) => id % 2 === 0 && file.includes(mark(id))).length
}
const before = left()
const { secure_delete: mode } = database.get('PRAGMA secure_delete')
const { version } = database.get('SELECT sqlite_version() AS version')
database.exec('VACUUM')
const after = left()
database.close()
console.log(`node-sqlite3-wasm 0.8.60, SQLite ${version}, secure_delete ${mode}`)
console.log('Expected: 0 of 1000 deleted rows are left in the file')
console.log(`Seen: ${before} of 1000 are left; after VACUUM ${after}`)

if (!(mode === 1 && before > 0 && before < 50 && after === 0)) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.cjs
