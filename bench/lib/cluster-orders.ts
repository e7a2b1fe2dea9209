/** Orders and results of a node of a cluster. */

export type NodeOrder =
  | {
      type: 'start'
      databaseUrl: string
      /** Key in base64, the same for all nodes. */
      masterKey: string
      dataDir: string
      packDir: string
      packId: string
      /** Milliseconds that a picture takes of a worker. */
      engineMs: number
      workers: number
    }
  /** Creates this many tenants. */
  | { type: 'tenants'; count: number }
  | { type: 'cpu' }

export interface NodeResult {
  /** Origin of the production API, without /v1. */
  origin: string
  /** Production keys of the created tenants. */
  keys: string[]
  /** CPU time of the main thread since the start, in milliseconds; null where the system does not report it. */
  mainThreadMs: number | null
}
