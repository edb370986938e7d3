const CREDENTIAL_LIKE = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:^|_)(?:PASS|PAT)(?:_|$)/i;

/**
 * Whether a variable of the environment is called like a credential: `*KEY*`, `*TOKEN*`, `*SECRET*`, `*PASSWORD*`,
 * `*PASSWD*`, `*PASSPHRASE*`, `*CREDENTIAL*`, or with `PASS` or `PAT` as a word of its name; in any case.
 */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_LIKE.test(name);
}
