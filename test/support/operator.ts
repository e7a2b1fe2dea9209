/** The operator of the test services. They get only the hash, because deriving one takes a fifth of a second at each start. */
export const OPERATOR_PASSWORD = 'a password for the tests'
export const OPERATOR_HASH = 'scrypt$Q_ZCrqu-CRUEx1E38nNWkQ$FmAarc3A-FL5ZuRhyuZoO9bNMFIEjYjKqlIMHwI6zYg'
