/** The entry of the thread that copies the write-ahead log back: whenever it is asked, as far as it can without holding anybody up. */
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const database = new Database(workerData as string, { fileMustExist: true, timeout: 0 })

parentPort!.on('message', () => {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch {
    // A full or failing disk. What was not copied stays in the log, and shows there.
  }
  parentPort!.postMessage(null)
})
