/**
 * The models folder of every test and campaign. Kept between runs, since a complete pack is only checked, in some 35 ms; in
 * this checkout, so that no other one replaces it.
 */
import { packageFile } from '../../src/lib/package-root.js'

export const MODELS_DIR = packageFile('node_modules', '.cache', 'countersign-test-models')
