import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_NAMESPACE, type Namespace, namespaceNamed } from '../../../src/contract/call/namespace.js';
import {
  type Credentials,
  certificatesOf,
  expiryProblems,
} from '../../../src/observe/problems/expiry-problems.js';

const DAY_MS = 24 * 3_600_000;
const fixture = (name: string) =>
  readFileSync(path.resolve(import.meta.dirname, '../../fixtures/tls', `test-only-${name}.pem`));
const END_OF_SERVER = Date.parse('2126-01-01T00:00:00Z');
const NONE: Credentials = { certificates: () => [], keys: () => [], issuer: () => undefined };
const told = (credentials: Partial<Credentials>, nowMs: number) =>
  expiryProblems({ ...NONE, ...credentials }, nowMs, DEFAULT_NAMESPACE).map(
    ({ kind, severity, count, subjects }) => [severity, kind, count, subjects[0]?.detail],
  );

it('certificates are a warning three weeks before their end, and critical three days before and after it', () => {
  const certificates = () => certificatesOf('server', fixture('server-cert'));
  const at = (days: number) => told({ certificates }, END_OF_SERVER - days * DAY_MS);
  expect(at(21)).toEqual([]);
  expect(at(20.9)).toEqual([
    ['warning', 'certificate_expiring', 1, 'server: expires in 20 days, at 2126-01-01 00:00 UTC'],
  ]);
  expect(at(3)).toMatchObject([['warning', 'certificate_expiring', 1, expect.anything()]]);
  expect(at(0.05)).toEqual([
    ['critical', 'certificate_expiring', 1, 'server: expires in 1 hour, at 2126-01-01 00:00 UTC'],
  ]);
  expect(at(-2)).toEqual([
    ['critical', 'certificate_expiring', 1, 'server: expired 2 days ago, at 2126-01-01 00:00 UTC'],
  ]);
});

it('all certificates of a file are looked at, and what is none is left out', () => {
  const broken = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  const file = Buffer.concat([fixture('server-cert'), broken, fixture('expired-cert'), fixture('client-ca')]);
  expect(certificatesOf('chain', file).map(({ subject }) => subject)).toEqual([
    'test-only.localhost',
    'test-only.expired',
    'test-only.clients',
  ]);
  expect(certificatesOf('chain', Buffer.from('nothing'))).toEqual([]);
});

it('keys are a warning a week before their end, the first one first', () => {
  const key = (name: string | null, days: number, namespace = 'default') => ({
    namespace,
    name,
    fingerprint: `f-${days}`,
    expiresAtMs: days * DAY_MS,
  });
  const keys = () => [key('far', 7), key('later', 6), key(null, 1.5), key('of others', 1, 'team-a')];
  const [problem] = expiryProblems({ ...NONE, keys }, 0, DEFAULT_NAMESPACE);
  expect(problem).toMatchObject({ kind: 'key_expiring', severity: 'warning', title: '2 keys expire soon' });
  expect(problem?.subjects.map(({ id, name }) => [id, name])).toEqual([
    ['f-1.5', 'f-1.5'],
    ['f-6', 'later'],
  ]);
  const subjectsOf = (of: Namespace | 'all') => expiryProblems({ ...NONE, keys }, 0, of)[0]?.subjects ?? [];
  expect(subjectsOf(namespaceNamed('team-a')).map(({ name }) => name)).toEqual(['of others']);
  expect(subjectsOf(namespaceNamed('team-b'))).toEqual([]);
  expect(subjectsOf('all')).toHaveLength(3);
});

it('an issuer is a warning when its keys could not be read for ten minutes', () => {
  const issuer = (failed: boolean, ageMs: number | null) =>
    told({ issuer: () => ({ issuer: 'https://login.example', failed, ageMs }) }, 0);
  expect(issuer(false, null)).toEqual([]);
  expect(issuer(false, 60 * 60_000)).toEqual([]);
  expect(issuer(true, 9 * 60_000)).toEqual([]);
  expect(issuer(true, 10 * 60_000)).toEqual([
    ['warning', 'issuer_unreachable', 1, 'those of 10 minutes ago are in use'],
  ]);
});
