/** The part of the documents that other features may use: the page that explains error codes. */
export {
  apiErrorGroups,
  CATEGORY_MEANINGS,
  ERRORS_PAGE_HEADERS,
  type ErrorGroup,
  errorsPage,
} from './errors-page.js'
