import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageInfo } from '../../src/base/index.js';

/** PEM texts of a key that protects nothing. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

/** Where the certificate lies; it is its own authority, for `127.0.0.1`, `localhost` and `model.test`. */
export const TEST_CERTIFICATE_FILE = join(packageInfo().root, 'test', 'fixtures', 'tls', 'test-only-cert.pem');

export function testCertificate(): TestCertificate {
  const key = readFileSync(TEST_CERTIFICATE_FILE.replace('cert.pem', 'key.pem'), 'utf8');
  return { key, cert: readFileSync(TEST_CERTIFICATE_FILE, 'utf8') };
}
