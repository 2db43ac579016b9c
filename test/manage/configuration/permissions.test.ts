import { afterAll, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { createKeysFile } from '../../support/keys-file.js';
import { suiteService } from '../../support/service-suite.js';
import { applier, control, exported } from './documents.support.js';

const KEYS = ['admin-key', 'team-key', 'some-agents', 'no-policies', 'reader'] as const;
const keyOf = (name: (typeof KEYS)[number]) => `${name}-`.padEnd(40, 'x');

describe('Configurations', () => {
  const keys = createKeysFile([
    { name: 'admin-key', key: keyOf('admin-key'), role: 'operator' },
    { name: 'team-key', key: keyOf('team-key'), role: 'admin', namespace: 'team-a' },
    { name: 'some-agents', key: keyOf('some-agents'), role: 'admin', agents: ['payments-*'] },
    { name: 'no-policies', key: keyOf('no-policies'), scopes: ['evaluate', 'events.write'] },
    { name: 'reader', key: keyOf('reader'), scopes: ['controls.read', 'policies.read'] },
  ]);
  afterAll(() => keys.remove());
  const service = suiteService(() => keys.environment);
  const by = (name: (typeof KEYS)[number]) => restClient(service.url, { 'x-api-key': keyOf(name) });

  it('are those of the namespace of the caller', async () => {
    await by('admin-key')('POST', '/api/v1/namespaces', { name: 'team-a' });
    for (const [name, pattern] of [
      ['admin-key', 'of the default'],
      ['team-key', 'of the team'],
    ] as const) {
      expect((await applier(by(name))([control('same-name', pattern)])).body).toMatchObject({
        applied: true,
      });
    }
    expect(await exported(by('admin-key'))).toContain('of the default');
    expect(await exported(by('team-key'))).toContain('of the team');
    expect(await exported(by('team-key'))).not.toContain('of the default');
    expect((await applier(by('team-key'))([], { prune: true })).status).toBe(200);
    expect(await exported(by('admin-key'))).toContain('of the default');
    const elsewhere = { ...control('same-name'), namespace: 'default' };
    const refused = await applier(by('team-key'))([elsewhere]);
    expect(refused.body.errors).toMatchObject([{ field: 'documents[0].namespace', code: 'other_namespace' }]);
  });

  it.each(['some-agents', 'no-policies', 'reader'] as const)(
    'are not applied by the key %s',
    async (name) => {
      const { status, body } = await applier(by(name))([control('not-allowed')]);
      expect([status, body.error_code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
      expect(await exported(by('admin-key'))).not.toContain('not-allowed');
    },
  );

  it('are exported by keys that read controls and policies of all agents', async () => {
    const statuses = KEYS.map(async (name) => [
      name,
      (await by(name)('POST', '/api/v1/configuration/export', {})).status,
    ]);
    expect(await Promise.all(statuses)).toEqual([
      ['admin-key', 200],
      ['team-key', 200],
      ['some-agents', 403],
      ['no-policies', 403],
      ['reader', 200],
    ]);
  });
});
