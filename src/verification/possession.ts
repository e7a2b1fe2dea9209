/** Proof that the person holds a key (RFC 8176): `hwk` for one in hardware, `swk` for one in software. */
export type Possession = 'hwk' | 'swk'
