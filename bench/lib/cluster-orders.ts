/** What a node of a cluster can be asked for, and what it answers. */

export type NodeOrder =
  | {
      type: 'start'
      databaseUrl: string
      /** In base64; the same for all nodes. */
      masterKey: string
      dataDir: string
      packDir: string
      packId: string
      /** What a picture takes of a worker. */
      engineMs: number
      workers: number
    }
  /** Makes so many tenants. */
  | { type: 'tenants'; count: number }
  | { type: 'cpu' }

export interface NodeResult {
  /** Origin of the production API, without /v1. */
  origin: string
  /** Production keys of the tenants that were made. */
  keys: string[]
  /** CPU time of the main thread since the start, in milliseconds; null where the system does not tell. */
  mainThreadMs: number | null
}
