/** The part of typed actions that other features may use. */
export { assertPayees, hashOfDisplay, payeesField, type ShownDisplay, typedActions } from './typed-actions.js'
