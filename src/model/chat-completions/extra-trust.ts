import { readFileSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { errorCode } from '../../base/index.js';
import { LlmError } from '../errors.js';

/**
 * The certificate authorities of the file that `SSL_CERT_FILE` names, beside those that Node trusts by itself and by
 * `NODE_EXTRA_CA_CERTS`; nothing when it names none.
 *
 * @throws LlmError `INVALID_CERTIFICATES` for a file that cannot be read, or holds no certificates
 */
export function extraTrust(): { readonly secureContext?: SecureContext } {
  const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  if (SSL_CERT_FILE === undefined || SSL_CERT_FILE === '') return {};
  const { createSecureContext, rootCertificates } = process.getBuiltinModule('node:tls');
  const own = certificatesOf(SSL_CERT_FILE, 'SSL_CERT_FILE');
  // Node forgets what it reads by itself as soon as authorities are named.
  const extra = NODE_EXTRA_CA_CERTS ? certificatesOf(NODE_EXTRA_CA_CERTS, 'NODE_EXTRA_CA_CERTS') : '';
  return { secureContext: createSecureContext({ ca: [...rootCertificates, own, extra] }) };
}

function certificatesOf(path: string, variable: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid(`the file ${path} that ${variable} names cannot be read: ${errorCode(cause)}`, { cause });
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw invalid(`the file ${path} that ${variable} names holds no PEM certificate`);
}

function invalid(message: string, options?: ErrorOptions): LlmError {
  return new LlmError({ code: 'INVALID_CERTIFICATES', message }, options);
}
