/** The TLS files. */
export interface TlsSettings {
  readonly certFile: string;
  readonly keyFile: string;
  /** Mutual TLS; null without it. */
  readonly clients: {
    /** File with the authorities of client certificates. */
    readonly caFile: string;
    /** Whether a client needs a certificate to connect. */
    readonly isRequired: boolean;
  } | null;
}

/** The values of the variables about TLS. */
export interface TlsValues {
  readonly tlsCertFile: string | null;
  readonly tlsKeyFile: string | null;
  readonly tlsClientCaFile: string | null;
  readonly tlsClientCertificates: 'optional' | 'required';
}

/** The TLS settings; null without TLS. Adds a problem for each variable that needs another one. */
export function tlsSettings(values: TlsValues, problems: string[]): TlsSettings | null {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, tlsClientCaFile: caFile } = values;
  const isRequired = values.tlsClientCertificates === 'required';
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
  return { certFile, keyFile, clients: caFile === null ? null : { caFile, isRequired } };
}
