/** Finds the documentation, which the package and the container bring along. */
import { packageFile } from './package-root.js'

/** Absolute path of a page on this machine. @param page file of the folder `docs`, such as `operations/tenants.md#tenants` */
export function docPath(page: string): string {
  return packageFile('docs', page)
}
