import type { Config } from '../../contract/config/config.js';
import {
  type Credentials,
  certificatesOf,
  type UsedCertificate,
} from '../../observe/problems/expiry-problems.js';
import type { KeyRing } from '../../serve/auth/key-ring.js';
import type { Issuers } from './issuer.js';
import type { LiveFiles } from './live-files.js';
import { credentialsOf } from './tls-files.js';

/** The certificates and keys in use: those of the files as they were read last. */
export function credentialsInUse(
  tls: Config['tls'],
  files: Pick<LiveFiles, 'tls'>,
  keyRing: KeyRing,
  issuers: Issuers | undefined,
): Credentials {
  let read: { readonly contents: readonly Buffer[]; readonly certificates: readonly UsedCertificate[] } = {
    contents: [],
    certificates: [],
  };
  return {
    certificates() {
      if (tls === null) return [];
      if (read.contents !== files.tls)
        read = { contents: files.tls, certificates: certificatesIn(files.tls) };
      return read.certificates;
    },
    keys: () =>
      [...keyRing.keys]
        .filter(({ expiresAtMs }) => Number.isFinite(expiresAtMs))
        .map(({ principal: { name, namespace, keyFingerprint }, expiresAtMs }) => ({
          namespace: namespace.name,
          name,
          fingerprint: keyFingerprint ?? '',
          expiresAtMs,
        })),
    issuer() {
      const states = (issuers?.all ?? []).map(({ settings, keys }) => ({
        issuer: settings.issuer,
        ...keys.state,
      }));
      // The problems have a place for one.
      return states.find(({ failed }) => failed) ?? states[0];
    },
  };
}

/** All of both files: a client checks the whole chain. */
function certificatesIn(contents: readonly Buffer[]): UsedCertificate[] {
  const { cert, clientCa } = credentialsOf(contents);
  return [
    ...certificatesOf('certificate of the server (SERVICE_TLS_CERT_FILE)', Buffer.from(cert)),
    ...(clientCa === undefined
      ? []
      : certificatesOf('authority of clients (SERVICE_TLS_CLIENT_CA_FILE)', Buffer.from(clientCa))),
  ];
}
