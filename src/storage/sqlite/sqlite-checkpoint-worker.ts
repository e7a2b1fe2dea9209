/** Entry of the thread that copies the write-ahead log back on request, as far as it can without blocking readers or writers. */
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const database = new Database(workerData as string, { fileMustExist: true, timeout: 0 })

parentPort!.on('message', () => {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch {
    // The disk is full or failing. Pages that were not copied stay in the log, which then grows.
  }
  parentPort!.postMessage(null)
})
