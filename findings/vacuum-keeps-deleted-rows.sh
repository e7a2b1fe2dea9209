#!/usr/bin/env bash
# Guess: after DELETE, VACUUM and CHECKPOINT of PostgreSQL the deleted rows are gone from the file of the table, since
# VACUUM cleans the pages and CHECKPOINT writes them.
# What happens: VACUUM marks the room as free and pushes the living rows together, but overwrites nothing else. About
# half of the deleted rows can still be read in the file. VACUUM FULL, which writes a new file, leaves none in it.
# Why it matters: templates of erased people stay in the files, and in each copy of them, until other rows take the
# room. A key for each person that is erased with the person solves this only if that key is not in such a table itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund @electric-sql/pglite@0.5.17
cat >seen.mjs <<'EOF'
import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'

const database = new PGlite('data')
await database.exec(`
  CREATE TABLE person (id int PRIMARY KEY, template text);
  INSERT INTO person SELECT n, 'template ' || lpad(n::text, 6, '0') || ';' || repeat('x', (n * 37) % 300) FROM generate_series(1, 2000) n;
  CHECKPOINT;
  DELETE FROM person WHERE id % 2 = 0`)
const left = async (vacuum) => {
  await database.exec(vacuum)
  await database.exec('CHECKPOINT')
  const [{ path }] = (await database.query("SELECT pg_relation_filepath('person') AS path")).rows
  const file = readFileSync(`data/${path}`, 'latin1')
  return Array.from({ length: 1000 }, (_, n) => `template ${String(2 * n + 2).padStart(6, '0')};`).filter((mark) =>
    file.includes(mark),
  ).length
}
const [{ version }] = (await database.query("SELECT current_setting('server_version') AS version")).rows
const plain = await left('VACUUM person')
const full = await left('VACUUM FULL person')
await database.close()
console.log(`@electric-sql/pglite 0.5.17, PostgreSQL ${version}`)
console.log('Expected after VACUUM: 0 of 1000 deleted rows are left in the file')
console.log(`Seen after VACUUM: ${plain} of 1000; after VACUUM FULL: ${full}`)

if (!(plain > 100 && full === 0)) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs
