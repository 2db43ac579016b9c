import { X509Certificate } from 'node:crypto';
import type { Namespace } from '../../contract/call/namespace.js';
import { counted, durationText, ofSubjects, type Problem, type ProblemSubject } from './problem.js';

/** A certificate in use. */
export interface UsedCertificate {
  /** What it is for, with the variable that sets it. */
  readonly use: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** Name of its holder, and its serial number, which tells it from others of the same name. */
  readonly subject: string;
  readonly serial: string;
}

/** A key that expires. */
export interface ExpiringKey {
  /** Name of its namespace: others are not told of it. */
  readonly namespace: string;
  readonly name: string | null;
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** The keys of the issuer of tokens. */
export interface IssuerState {
  readonly issuer: string;
  /** Milliseconds since the keys in use were read; null if none ever were. */
  readonly ageMs: number | null;
  /** Whether the last attempt to read them failed. */
  readonly failed: boolean;
}

/** What callers of the service and the service itself are known by. */
export interface Credentials {
  certificates(): readonly UsedCertificate[];
  /** Valid keys that expire. */
  keys(): readonly ExpiringKey[];
  /** Undefined without an issuer. */
  issuer(): IssuerState | undefined;
}

const DAY_MS = 24 * 60 * 60_000;
/** Time in which a certificate can be renewed without haste, and time in which it must be. */
const SOON_MS = 21 * DAY_MS;
const AT_ONCE_MS = 3 * DAY_MS;
/** Keys are renewed in less time than certificates. */
const KEY_SOON_MS = 7 * DAY_MS;
/** Keys of an issuer are read every five minutes. */
const ISSUER_LATE_MS = 10 * 60_000;

/**
 * The problems of certificates, the issuer, and the keys of a namespace or of all, those that expire first first.
 * Certificates and the issuer concern every namespace.
 */
export function expiryProblems(credentials: Credentials, nowMs: number, of: Namespace | 'all'): Problem[] {
  const certificates = [...credentials.certificates()]
    .filter(({ expiresAtMs }) => expiresAtMs - nowMs < SOON_MS)
    .sort((left, right) => left.expiresAtMs - right.expiresAtMs);
  const isUrgent = ({ expiresAtMs }: UsedCertificate) => expiresAtMs - nowMs < AT_ONCE_MS;
  const shown = (certificate: UsedCertificate) => certificateSubject(certificate, nowMs);
  const urgent = certificates.filter(isUrgent).map(shown);
  const soon = certificates.filter((certificate) => !isUrgent(certificate)).map(shown);
  return [
    ...ofSubjects('certificate_expiring', 'critical', urgent, CERTIFICATES, CERTIFICATES_ADVICE),
    ...ofSubjects('certificate_expiring', 'warning', soon, CERTIFICATES, CERTIFICATES_ADVICE),
    ...ofSubjects('key_expiring', 'warning', expiringKeys(credentials, nowMs, of), KEYS, KEYS_ADVICE),
    ...issuerProblems(credentials.issuer()),
  ];
}

function certificateSubject(
  { use, subject, serial, expiresAtMs }: UsedCertificate,
  nowMs: number,
): ProblemSubject {
  return {
    type: 'certificate',
    id: serial,
    name: subject,
    detail: `${use}: ${untilText(expiresAtMs, nowMs)}`,
  };
}

function expiringKeys(credentials: Credentials, nowMs: number, of: Namespace | 'all'): ProblemSubject[] {
  return [...credentials.keys()]
    .filter(({ namespace }) => of === 'all' || namespace === of.name)
    .filter(({ expiresAtMs }) => expiresAtMs - nowMs < KEY_SOON_MS)
    .sort((left, right) => left.expiresAtMs - right.expiresAtMs)
    .map(({ name, fingerprint, expiresAtMs }) => ({
      type: 'key',
      id: fingerprint,
      name: name ?? fingerprint,
      detail: untilText(expiresAtMs, nowMs),
    }));
}

function issuerProblems(state: IssuerState | undefined): Problem[] {
  if (state === undefined || !state.failed) return [];
  const { issuer, ageMs } = state;
  // One attempt that fails is made up for by the next one.
  if (ageMs !== null && ageMs < ISSUER_LATE_MS) return [];
  const age =
    ageMs === null
      ? 'they were never read, so that no token is accepted'
      : `those of ${durationText(ageMs / 1_000)} ago are in use`;
  return ofSubjects(
    'issuer_unreachable',
    'warning',
    [{ type: 'key', id: issuer, name: issuer, detail: age }],
    {
      one: (name) => `The keys of the issuer ${name} cannot be read`,
      many: (count) => `The keys of ${counted(count, 'issuer')} cannot be read`,
    },
    'Tokens signed with newer keys are refused, and after 24 hours all tokens are. Make the issuer reachable for the service, or correct SERVICE_OIDC_ISSUER; the log of the process that was asked names the cause.',
  );
}

function untilText(expiresAtMs: number, nowMs: number): string {
  const leftS = (expiresAtMs - nowMs) / 1_000;
  const at = new Date(expiresAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return leftS <= 0
    ? `expired ${durationText(-leftS)} ago, at ${at} UTC`
    : `expires in ${durationText(leftS)}, at ${at} UTC`;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** More authorities of clients than this are not looked at. */
const MAX_CERTIFICATES = 100;

/** The certificates of a PEM file; what is none is left out. */
export function certificatesOf(use: string, pem: Buffer): UsedCertificate[] {
  const texts = pem.toString('latin1').match(PEM) ?? [];
  return texts.slice(0, MAX_CERTIFICATES).flatMap((text) => {
    try {
      const { validTo, subject, serialNumber } = new X509Certificate(text);
      const names = subject ?? '';
      const shown = /(?:^|\n)CN=(.+)/.exec(names)?.[1] ?? (names.replaceAll('\n', ', ') || serialNumber);
      return [{ use, expiresAtMs: Date.parse(validTo), subject: shown, serial: serialNumber }];
    } catch {
      return [];
    }
  });
}

const CERTIFICATES = {
  one: (name: string) => `The certificate of ${name} expires soon or has expired`,
  many: (count: number) => `${counted(count, 'certificate')} expire soon or have expired`,
};
const CERTIFICATES_ADVICE =
  'Clients refuse an expired certificate, and an expired authority refuses clients. Replace the file: the service reads it again without a restart. Each process reads its own files.';
const KEYS = {
  one: (name: string) => `The key "${name}" expires soon`,
  many: (count: number) => `${counted(count, 'key')} expire soon`,
};
const KEYS_ADVICE =
  'Calls with an expired key are refused, and its streams end. Give its callers another one, or change expires_at in the keys file, which is read again without a restart.';
