import type { TLSSocket } from 'node:tls';
import { certificateId } from './known-key.js';

/** The names of a verified client certificate. */
export interface CertificateNames {
  /** As ids of entries of the keys file: those of its URIs, its DNS names, then its common name. */
  readonly ids: readonly string[];
  /** Milliseconds since 1970. */
  readonly validToMs: number;
}

/** One name of the certificate, as Node.js prints it: names with special characters are texts of JSON. */
const ALTERNATIVE_NAME = /([\w ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;

/** The names of the client certificate of a connection; undefined without one that was verified. */
export function clientCertificateOf(socket: TLSSocket): CertificateNames | undefined {
  // Also false if no certificate was asked for.
  if (!socket.authorized) return undefined;
  const { subject, subjectaltname, valid_to: validTo } = socket.getPeerCertificate();
  const names = alternativeNames(subjectaltname ?? '');
  const common: unknown = subject?.CN;
  const ids = [
    ...names.filter((name) => name.startsWith('URI:')),
    ...names.filter((name) => name.startsWith('DNS:')),
    // A list if there are several, none of which is the name of the holder.
    ...(typeof common === 'string' ? [`CN:${common}`] : []),
  ];
  return { ids: ids.map(certificateId), validToMs: Date.parse(validTo) };
}

/** The names as `KIND:name`; none if the text has another form. */
export function alternativeNames(text: string): string[] {
  const names: string[] = [];
  ALTERNATIVE_NAME.lastIndex = 0;
  for (let end = 0; end < text.length; end = ALTERNATIVE_NAME.lastIndex) {
    const [, kind, name] = ALTERNATIVE_NAME.exec(text) ?? [];
    if (kind === undefined || name === undefined) return [];
    names.push(`${kind}:${name.startsWith('"') ? JSON.parse(name) : name}`);
  }
  return names;
}
