import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.js';
import { checkCredentials } from '../transport/listener/tls-gate.js';

/**
 * Reads the certificate and the key, and checks that they match. Throws an Error with the variable, the file
 * and the reason.
 */
export function readTlsFiles({ certFile, keyFile }: NonNullable<Config['tls']>): {
  cert: Buffer;
  key: Buffer;
} {
  const credentials = {
    cert: readNamed('SERVICE_TLS_CERT_FILE', certFile),
    key: readNamed('SERVICE_TLS_KEY_FILE', keyFile),
  };
  try {
    checkCredentials(credentials);
  } catch (cause) {
    throw new Error(`SERVICE_TLS_CERT_FILE=${certFile} and SERVICE_TLS_KEY_FILE=${keyFile} cannot be used`, {
      cause,
    });
  }
  return credentials;
}

function readNamed(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`${variable}: the file ${file} cannot be read`, { cause });
  }
}
