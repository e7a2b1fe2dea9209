/** The part of typed actions that other features may use. */
export {
  assertPayees,
  type DisplayNote,
  hashOfDisplay,
  payeesField,
  type ShownDisplay,
  typedActions,
} from './typed-actions.js'
