import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Problem,
  ProblemSeverity,
  ServerService,
} from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { createKeysFile, type KeyEntry, type TestKeysFile } from '../../support/keys-file.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const fixture = (name: string) =>
  path.resolve(import.meta.dirname, '../../fixtures/tls', `test-only-${name}.pem`);
const DAY_MS = 24 * 3_600_000;
/** A port of this machine at which nothing listens. */
const NOBODY = 'http://127.0.0.1:9';
const ADMIN: KeyEntry = { name: 'alice (platform)', key: 'admin-key', role: 'admin' };
const LIMITED: KeyEntry = {
  name: 'bob',
  key: 'limited-key',
  role: 'regular',
  agents: ['support-*', 'billing-1'],
};

describe('a process whose certificate, keys, issuer and sink fail', () => {
  let folder: string;
  let keys: TestKeysFile;
  let service: TestService;
  const inFolder = (name: string) => path.join(folder, name);
  const useCertificate = (name: string) => {
    copyFileSync(fixture(`${name}-cert`), inFolder('cert.pem'));
    copyFileSync(fixture(`${name}-key`), inFolder('key.pem'));
  };
  const expiring = (days: number): KeyEntry => ({
    name: 'nightly',
    key: 'nightly-key',
    role: 'regular',
    expires_at: new Date(Date.now() + days * DAY_MS).toISOString(),
  });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'problems-'));
    useCertificate('expired');
    keys = createKeysFile([ADMIN, LIMITED, expiring(2.5)]);
    service = await startService({
      ...keys.environment,
      SERVICE_TLS_CERT_FILE: inFolder('cert.pem'),
      SERVICE_TLS_KEY_FILE: inFolder('key.pem'),
      SERVICE_OIDC_ISSUER: `${NOBODY}/realm`,
      SERVICE_OIDC_AUDIENCE: 'control-enforcement',
      SERVICE_OIDC_REGULAR_ROLES: '*',
      SERVICE_EVENT_PARQUET: 's3://events/here',
      SERVICE_EVENT_S3_ENDPOINT: NOBODY,
      SERVICE_EVENT_S3_REGION: 'nowhere',
      SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id',
      SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'secret',
    });
  });
  afterAll(async () => {
    await service.stop();
    keys.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const client = () =>
    createClient(
      ServerService,
      createGrpcTransport({ baseUrl: service.url, nodeOptions: { rejectUnauthorized: false } }),
    );
  const withKey = (key: string) => ({ headers: { 'x-api-key': key } });
  const problems = async () => (await client().listProblems({}, withKey('admin-key'))).problems;
  /** The problems once there is one of a kind, or none of it. */
  const once = (kind: string, isThere: boolean) =>
    until(problems, (all) => all.some((problem) => problem.kind === kind) === isThere);
  const of = (all: readonly Problem[], kind: string) => all.find((problem) => problem.kind === kind);

  it('tells each of them, the worst first', async () => {
    await once('sink_failing', true);
    const all = await once('issuer_unreachable', true);
    expect(all.map(({ kind }) => kind)).toEqual([
      'certificate_expiring',
      'sink_failing',
      'key_expiring',
      'issuer_unreachable',
    ]);
    expect(of(all, 'certificate_expiring')).toMatchObject({
      severity: ProblemSeverity.CRITICAL,
      title: 'The certificate of test-only.expired expires soon or has expired',
      count: 1,
      subjects: [
        {
          type: 'certificate',
          id: '0A',
          name: 'test-only.expired',
          detail: expect.stringMatching(
            /^certificate of the server \(SERVICE_TLS_CERT_FILE\): expired \d+ days ago, at 2025-02-01 00:00 UTC$/,
          ),
        },
      ],
    });
    expect(of(all, 'key_expiring')).toMatchObject({
      severity: ProblemSeverity.WARNING,
      title: 'The key "nightly" expires soon',
      subjects: [{ type: 'key', detail: expect.stringMatching(/^expires in 2 days, at /) }],
    });
    expect(of(all, 'issuer_unreachable')).toMatchObject({
      title: `The keys of the issuer ${NOBODY}/realm cannot be read`,
      subjects: [{ detail: 'they were never read, so that no token is accepted' }],
    });
    expect(of(all, 'sink_failing')).toMatchObject({
      title: 'Events cannot be delivered to parquet',
      subjects: [
        { type: 'sink', id: 'parquet', detail: expect.stringMatching(/^failed \d+ times? in a row$/) },
      ],
    });
  });

  it('tells them no more once the files are replaced', async () => {
    useCertificate('server');
    keys.set([ADMIN, LIMITED, expiring(8)]);
    await once('certificate_expiring', false);
    expect(of(await once('key_expiring', false), 'issuer_unreachable')).toBeDefined();
  });

  it('tells a caller its name and the agents that it is limited to', async () => {
    const info = (key: string) => client().getServerInfo({}, withKey(key));
    expect(await info('admin-key')).toMatchObject({
      callerName: 'alice (platform)',
      isLimitedToAgents: false,
      agents: [],
      state: { recordedResults: 'matches' },
    });
    expect(await info('limited-key')).toMatchObject({
      callerName: 'bob',
      isLimitedToAgents: true,
      agents: ['support-*', 'billing-1'],
    });
  });
});
