/** The operator of the test services, which are given the hash alone: to derive one takes a fifth of a second, at each start. */
export const OPERATOR_PASSWORD = 'a password for the tests'
export const OPERATOR_HASH = 'scrypt$Q_ZCrqu-CRUEx1E38nNWkQ$FmAarc3A-FL5ZuRhyuZoO9bNMFIEjYjKqlIMHwI6zYg'
