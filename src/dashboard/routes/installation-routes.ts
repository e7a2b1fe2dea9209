/** The routes of the installation: its tenants, and the state of the system. */
import { statfs } from 'node:fs/promises'
import Type from 'typebox'
import { installedPacks } from '../../../models/pack/installed-packs.js'
import { calibrationPoints } from '../../../models/pack/model-pack.js'
import { networkFiles } from '../../../models/pack/network-files.js'
import { gradeOf } from '../../../models/pack/pack-grade.js'
import { membershipView } from '../../cluster/membership.js'
import { isoTime, optionalTime } from '../../lib/clock.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import { COMMIT, VERSION } from '../../lib/version.js'
import type { DashboardServices } from '../dashboard-services.js'
import { assertReached } from '../lib/assert-reached.js'
import { fmr, ratePerSecond, text } from '../lib/bodies.js'
import { asSecret, operatorRoute } from './route.js'
import { revealed, shownTenant } from './tenant-routes.js'

export const INSTALLATION_ROUTES = {
  'GET /tenants': operatorRoute({
    right: 'read',
    answer: async ({ services }) => ({
      tenants: (await services.core.store.read.tenants()).map(shownTenant),
    }),
  }),

  'POST /tenants': operatorRoute({
    right: 'admin',
    givesSecret: true,
    status: 201,
    body: { name: text(64), rate_per_second: Type.Optional(ratePerSecond), fmr: Type.Optional(fmr) },
    async answer({
      services,
      operations,
      urls,
      actor,
      input: { name, rate_per_second: ratePerSecond, fmr },
    }) {
      if (fmr !== undefined) assertReached(services, fmr)
      const created = await operations.tenants.create(name, actor, { ratePerSecond, fmr }, urls().admin)
      return {
        tenant: shownTenant(created.tenant),
        sandbox_key: asSecret(created.sandboxKey),
        signing_secret: revealed(created.signingSecret),
        login_link: asSecret(created.loginLink),
      }
    },
  }),

  'GET /system': operatorRoute({
    right: 'read',
    async answer({ services }) {
      const { engine, core, config, startedAt, urls, clock } = services
      const { store } = core
      const { pack } = engine
      const size = store.size()
      return {
        version: VERSION,
        /** Commit from which the service was built, or `unknown`. */
        commit: COMMIT,
        node: process.version,
        now: isoTime(clock.now()),
        started_at: isoTime(startedAt),
        urls: urls(),
        /** Whether this listener serves the metrics; false when they have their own listener. */
        has_metrics: config.metricsListen === undefined,
        engine: engine.health(),
        memory_bytes: process.memoryUsage.rss(),
        upkeep: await upkeepOf(services),
        database: {
          status: (await store.isHealthy()) ? 'ok' : 'degraded',
          bytes: size.database,
          /** Size of the log in bytes, or null when other databases share it. */
          log_bytes: size.log,
          counts: await store.read.counts(),
        },
        pack: {
          id: pack.modelId,
          description: pack.manifest.description,
          networks: networkFiles(pack.manifest).map(({ file, licence }) => ({ file, licence })),
          /** False match rate of the calibration's row that decides for a contract without a rate. */
          fmr_in_force: services.operatingPoint(config.fmr).fmr,
          ...gradeOf(pack, config.fmr),
          calibration: calibrationPoints(pack).map(({ fmr, threshold, measured }) => ({
            fmr,
            threshold,
            measured,
          })),
        },
        ...membershipView(store.shared ? await store.services() : []),
        packs: (await installedPacks(config.modelsDir, pack.dir)).map(({ id, model, dir, problem }) => ({
          id: model ?? id,
          active: dir === pack.dir,
          problem,
        })),
      }
    },
  }),
}

async function upkeepOf({ config, core: { store }, certificates }: DashboardServices) {
  // The rest is shown even when the file system does not report its space.
  const disk = await statfs(nearestFolder(config.dataDir)).catch(() => null)
  const lastBackup = store.makesBackups ? await store.read.lastBackupAt() : undefined
  return {
    /** Null when it cannot be read. */
    disk_free_bytes: disk && disk.bavail * disk.bsize,
    /** Time of the last backup: null before the first, absent when the service makes none. */
    ...(lastBackup === undefined ? {} : { last_backup: lastBackup === 0 ? null : optionalTime(lastBackup) }),
    /** Expiry by group of listeners; null for a group without certificate. */
    certificates: certificates().map(({ name, expiresAt }) => ({
      listeners: name,
      expires_at: optionalTime(expiresAt),
    })),
  }
}
