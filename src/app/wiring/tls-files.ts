import { readFileSync } from 'node:fs';
import type { Config } from '../../contract/config/config.js';
import { checkCredentials, type TlsCredentials } from '../../serve/listener/tls-gate.js';

/** The TLS files: certificate, key and, with mutual TLS, the authorities of clients. */
export function tlsFileNames({ certFile, keyFile, clients }: NonNullable<Config['tls']>): string[] {
  return clients === null ? [certFile, keyFile] : [certFile, keyFile, clients.caFile];
}

/**
 * Reads the TLS files, in the order of `tlsFileNames`, and checks that they match. Throws an Error with the variable,
 * the file and the reason.
 */
export function readTlsFiles(tls: NonNullable<Config['tls']>): Buffer[] {
  const { certFile, keyFile, clients } = tls;
  const contents = [
    readNamed('SERVICE_TLS_CERT_FILE', certFile),
    readNamed('SERVICE_TLS_KEY_FILE', keyFile),
    ...(clients === null ? [] : [readNamed('SERVICE_TLS_CLIENT_CA_FILE', clients.caFile)]),
  ];
  checkTlsFiles(tls, contents);
  return contents;
}

/** Checks the contents of the TLS files. Throws an Error with the variables, the files and the reason. */
export function checkTlsFiles(
  { certFile, keyFile }: NonNullable<Config['tls']>,
  contents: readonly Buffer[],
): void {
  try {
    checkCredentials(credentialsOf(contents));
  } catch (cause) {
    throw new Error(`SERVICE_TLS_CERT_FILE=${certFile} and SERVICE_TLS_KEY_FILE=${keyFile} cannot be used`, {
      cause,
    });
  }
}

/** The contents of the TLS files by their meaning. */
export function credentialsOf(contents: readonly Buffer[]): TlsCredentials {
  const [cert = NO_BYTES, key = NO_BYTES, clientCa] = contents;
  return { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
}

const NO_BYTES = Buffer.alloc(0);

/** Reads a file named by a variable. Throws an Error with both. */
export function readNamed(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`${variable}: the file ${file} cannot be read`, { cause });
  }
}
