import { BOOLEAN, integerIn, TEXT, textLike, wordOf } from './config-readers.js';
import { setting, type ValuesOf } from './setting.js';

/** A path without a slash at its end. No segment is `.` or `..`, which browsers resolve. */
export const BASE_PATH = /^(\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;

/** Where the service listens, and what it serves there. */
export const LISTENER = {
  host: setting(['SERVICE_HOST', 'HOST'], '0.0.0.0', TEXT).help('Address to listen on.'),
  port: setting(['SERVICE_PORT', 'PORT'], 8000, integerIn(0, 65_535)).help(
    'Port to listen on; 0 picks a free one.',
  ),
  operations: {
    port: setting('SERVICE_OPERATIONS_PORT', null, integerIn(0, 65_535, '9000')).help(
      'Port for health, readiness and metrics, which then are not on the public one; 0 picks a free one.',
    ),
    host: setting('SERVICE_OPERATIONS_HOST', null, TEXT).help(
      'Address of the operations port.',
      'that of SERVICE_HOST',
    ),
  },
  reflection: setting('SERVICE_REFLECTION', 'public', wordOf('public', 'operations', 'off')).help(
    'Where gRPC reflection is served: on the public port, on the operations port only, or nowhere.',
  ),
  debug: setting(['SERVICE_DEBUG', 'DEBUG'], false, BOOLEAN).help(
    'Debug mode: more logging, and browsers may log in over plain http from any host.',
  ),
  tls: {
    certFile: setting('SERVICE_TLS_CERT_FILE', null, TEXT).help(
      'PEM file with the certificate chain. With SERVICE_TLS_KEY_FILE it turns TLS on.',
    ),
    keyFile: setting('SERVICE_TLS_KEY_FILE', null, TEXT).help('PEM file with the private key.'),
    clientCaFile: setting('SERVICE_TLS_CLIENT_CA_FILE', null, TEXT).help(
      'PEM file with the authorities of client certificates, whose names the keys file gives rights. Turns mutual TLS on.',
    ),
    clientCertificates: setting(
      'SERVICE_TLS_CLIENT_CERTIFICATES',
      'optional',
      wordOf('optional', 'required'),
    ).help(
      'Whether a client without a certificate of these authorities can connect, with a key for example.',
    ),
  },
  uiEnabled: setting('SERVICE_UI_ENABLED', true, BOOLEAN).help('Serve the dashboard at /ui/.'),
  /** For example `/guard`; null at the root. */
  basePath: setting(
    'SERVICE_BASE_PATH',
    null,
    textLike(BASE_PATH, 'a path without a slash at its end', '/guard'),
  ).help(
    'Path below which browsers see the service behind a proxy, for example /guard. The proxy may take it away or pass it on.',
    'that of X-Forwarded-Prefix from SERVICE_TRUST_PROXY, else none',
  ),
  /** For example `/api`; the only prefix of the session routes. */
  apiPrefix: setting(
    ['SERVICE_API_PREFIX', 'API_PREFIX'],
    '/api',
    textLike(/^(\/[A-Za-z0-9._~-]+)+$/, 'a path without a slash at its end'),
  ).help('First part of the path of the JSON routes.'),
  apiVersion: setting(
    ['SERVICE_API_VERSION', 'API_VERSION'],
    'v1',
    textLike(/^[A-Za-z0-9._~-]+$/, 'one segment of a path'),
  ).help('Second part of the path of the JSON routes.'),
};

type ListenerValues = ValuesOf<typeof LISTENER>;

/** Separate address for health, readiness and metrics; null for the public port. */
export function operationsAddress(values: ListenerValues, problems: string[]) {
  const { port, host } = values.operations;
  if (port !== null) return { host: host ?? values.host, port };
  if (values.reflection === 'operations') {
    problems.push(
      'SERVICE_REFLECTION: operations needs SERVICE_OPERATIONS_PORT; for example SERVICE_OPERATIONS_PORT=9000',
    );
  }
  return null;
}

/** Null without TLS. Adds a problem for each variable that needs another one. */
export function tlsSettings({ tls }: ListenerValues, problems: string[]) {
  const { certFile, keyFile, clientCaFile: caFile } = tls;
  /** Whether a client needs a certificate to connect. */
  const isRequired = tls.clientCertificates === 'required';
  if ((certFile === null) !== (keyFile === null)) {
    const missing = certFile === null ? 'SERVICE_TLS_CERT_FILE' : 'SERVICE_TLS_KEY_FILE';
    problems.push(`${missing}: TLS needs a certificate and a key; for example ${missing}=/etc/tls/tls.pem`);
  } else if (caFile !== null && certFile === null) {
    problems.push(
      'SERVICE_TLS_CLIENT_CA_FILE: client certificates need TLS; for example SERVICE_TLS_CERT_FILE=/etc/tls/tls.pem',
    );
  }
  if (isRequired && caFile === null) {
    problems.push(
      'SERVICE_TLS_CLIENT_CERTIFICATES: required needs authorities; for example SERVICE_TLS_CLIENT_CA_FILE=/etc/tls/clients.pem',
    );
  }
  if (certFile === null || keyFile === null) return null;
  /** Mutual TLS; null without it. */
  const clients = caFile === null ? null : { caFile, isRequired };
  return { certFile, keyFile, clients };
}
