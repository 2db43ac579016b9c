import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import { NamespaceRegistry } from '../../../src/manage/namespaces/namespace-registry.js';
import { createNamespaceRemoval } from '../../../src/manage/namespaces/namespace-removal.js';
import { createNamespaceService } from '../../../src/manage/namespaces/namespace-service.js';
import { createNamespaceStore } from '../../../src/manage/namespaces/namespace-store.js';
import { type Database, type DbClient, openDatabase } from '../../../src/storage/database/database.js';
import { createMutator, type MutationCaller } from '../../../src/storage/database/mutator.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { codeOf } from '../../support/service-error.js';

const NOW = Date.UTC(2026, 0, 1);
const OPERATOR = { principal: ANONYMOUS, address: null, requestId: 'test', reportRevision: () => {} };
const callerOf = (name: string): MutationCaller => ({
  ...OPERATOR,
  principal: { ...ANONYMOUS, namespace: namespaceNamed(name) },
});

describeOnEachDatabase('namespaces', (freshDatabaseUrl) => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
  });
  afterAll(() => database.close());

  const forgotten: string[] = [];

  function parts({ broken = false, maxNamespaces = 100 } = {}) {
    const mutate = createMutator({ database, now: () => NOW, onCommit: () => {} });
    const registry = new NamespaceRegistry({
      read: createNamespaceStore(database.client).all,
      onFailure: () => {},
      now: () => NOW,
    });
    const failures: string[] = [];
    const removal = createNamespaceRemoval({
      database,
      forgetMemory: async (name) => void forgotten.push(name),
      failures: { failed: (kind) => void failures.push(kind) },
      now: () => NOW,
    });
    const service = createNamespaceService({
      database,
      mutate,
      registry,
      removal: broken ? { ...removal, remove: () => Promise.reject(new Error('the process ends')) } : removal,
      failures: { failed: (kind) => void failures.push(kind) },
      now: () => NOW,
      maxNamespaces,
    });
    return { mutate, registry, removal, failures, service, context: OPERATOR };
  }

  /** Agents, controls with versions, policies and links of a namespace, and a key. */
  async function fill(name: string, agents: number, controls: number): Promise<void> {
    await database.mutate(async (client) => {
      await fillWith(client, name, agents, controls);
      return { value: undefined, changed: true };
    });
  }
  async function fillWith(client: DbClient, name: string, agents: number, controls: number): Promise<void> {
    const prefix = namespaceNamed(name).prefix;
    const numbers = (count: number) => Array.from({ length: count }, (_one, index) => index);
    await client.agent.createMany({
      data: numbers(agents).map((index) => ({
        name: `${prefix}agent-number-${index}`,
        namespace: name,
        data: '{}',
        createdAtMs: BigInt(index),
      })),
    });
    await client.control.createMany({
      data: numbers(controls).map((index) => ({
        name: `control-${index}`,
        liveName: `${prefix}control-${index}`,
        namespace: name,
        data: '{}',
        createdAtMs: 1n,
        updatedAtMs: 1n,
        enabled: true,
        execution: 'server',
        templateBacked: false,
        templateRendered: null,
        restrictsStepTypes: false,
        restrictsStages: false,
      })),
    });
    const control = await client.control.findMany({ where: { namespace: name }, select: { id: true } });
    await client.controlVersion.createMany({
      data: control.map(({ id }) => ({
        controlId: id,
        versionNum: 1,
        eventType: 'created',
        note: '',
        createdAtMs: 1n,
        changedMembers: '[]',
        name: 'n',
        data: '{}',
      })),
    });
    const agent = await client.agent.findMany({
      where: { namespace: name },
      select: { id: true, name: true },
    });
    await client.agentControl.createMany({
      data: agent.flatMap(({ id }) => control.slice(0, 1).map((one) => ({ agentId: id, controlId: one.id }))),
    });
    await client.agentUse.createMany({ data: agent.map((one) => ({ agentName: one.name, usedAtMs: 1n })) });
    await client.policy.create({ data: { name: `${prefix}policy`, namespace: name, createdAtMs: 1n } });
    await client.apiKey.create({
      data: {
        namespace: name,
        name: 'key',
        role: 'agent',
        hash: `hash of ${name}`,
        prefix: 'cek_',
        createdAtMs: 1n,
      },
    });
    await client.halt.create({
      data: { namespace: name, scope: 'namespace', reason: 'x', createdAtMs: 1n, createdBy: 'y' },
    });
    const { id: destinationId } = await client.notificationDestination.create({
      data: {
        namespace: name,
        name: 'x',
        type: 'webhook',
        kinds: '["halt.set"]',
        createdAtMs: 1n,
        createdBy: 'y',
      },
    });
    await client.notificationDelivery.create({
      data: {
        namespace: name,
        destinationId,
        messageId: 'm',
        kind: 'halt.set',
        object: 'halt:1',
        summary: 's',
        payload: '{}',
        createdAtMs: 1n,
        sinceMs: 1n,
        nextAtMs: 1n,
      },
    });
    const [first] = control;
    if (first === undefined) return;
    await client.controlShadow.create({
      data: {
        namespace: name,
        controlId: first.id,
        data: '{}',
        share: 1,
        shareBy: 'agent',
        setAtMs: 1n,
        baseVersion: 1,
      },
    });
    await client.controlBinding.create({
      data: {
        namespace: name,
        targetType: 'app',
        targetId: '1',
        controlId: first.id,
        enabled: true,
        createdAtMs: 1n,
        updatedAtMs: 1n,
      },
    });
  }

  /** Rows of each table that belong to a namespace. */
  async function left(name: string) {
    const { client } = database;
    const where = { namespace: name };
    const prefix = `${name}/`;
    return {
      agents: await client.agent.count({ where }),
      uses: await client.agentUse.count({ where: { agentName: { startsWith: prefix } } }),
      controls: await client.control.count({ where }),
      policies: await client.policy.count({ where }),
      bindings: await client.controlBinding.count({ where }),
      validKeys: await client.apiKey.count({ where: { ...where, revokedAtMs: null } }),
      halts: await client.halt.count({ where }),
      shadows: await client.controlShadow.count({ where }),
      destinations: await client.notificationDestination.count({ where }),
      deliveries: await client.notificationDelivery.count({ where }),
    };
  }
  const NOTHING = {
    agents: 0,
    uses: 0,
    controls: 0,
    policies: 0,
    bindings: 0,
    validKeys: 0,
    halts: 0,
    shadows: 0,
    destinations: 0,
    deliveries: 0,
  };

  it('are created once, known when the caller is answered, and listed by name with what they contain', async () => {
    const { service, registry, context } = parts();
    await service.create(context, 'team-b', 'The B team');
    await service.create(context, 'alpha');
    expect(registry.names()).toEqual(['alpha', 'default', 'team-b']);
    expect(registry.displayName('team-b')).toBe('The B team');
    await fill('alpha', 3, 2);
    const first = await service.list({ cursor: null, limit: 2 });
    expect(first.namespaces).toEqual([
      {
        name: 'alpha',
        display_name: 'alpha',
        created_at: new Date(NOW).toISOString(),
        agent_count: 3,
        control_count: 2,
        key_count: 1,
      },
      {
        name: 'default',
        display_name: 'default',
        created_at: null,
        agent_count: 0,
        control_count: 0,
        key_count: 0,
      },
    ]);
    expect(first.pagination).toEqual({ limit: 2, total: 3, next_cursor: 'default', has_more: true });
    const second = await service.list({ cursor: 'default', limit: 2 });
    expect(second.namespaces.map(({ name }) => name)).toEqual(['team-b']);
    expect(second.pagination.has_more).toBe(false);
    for (const taken of ['alpha', 'default']) {
      expect(await codeOf(service.create(context, taken))).toBe('NAMESPACE_CONFLICT');
    }
    await service.remove(context, 'alpha', true);
    await service.remove(context, 'team-b', false);
  });

  it('are at most as many as the limit', async () => {
    const { service, context } = parts({ maxNamespaces: 2 });
    await service.create(context, 'only-one');
    expect(await codeOf(service.create(context, 'one-more'))).toBe('VALIDATION_ERROR');
    await service.remove(context, 'only-one', false);
    await service.create(context, 'one-more');
    await service.remove(context, 'one-more', false);
  });

  it('have a display name that changes, and a name that does not', async () => {
    const { service, context } = parts();
    await service.create(context, 'renamed', 'Before');
    const { namespace } = await service.update(context, 'renamed', 'After');
    expect(namespace).toMatchObject({ name: 'renamed', display_name: 'After' });
    expect(await service.get('renamed')).toEqual({ namespace });
    expect(await codeOf(service.update(context, 'missing', 'x'))).toBe('NAMESPACE_NOT_FOUND');
    expect(await codeOf(service.update(context, 'default', 'x'))).toBe('NAMESPACE_IN_USE');
  });

  describe('when they are deleted', () => {
    it('must be empty without force, and are never the default one', async () => {
      const { service, context } = parts();
      await service.create(context, 'in-use');
      await fill('in-use', 1, 1);
      const before = await left('in-use');
      expect(await codeOf(service.remove(context, 'in-use', false))).toBe('NAMESPACE_IN_USE');
      expect(await left('in-use')).toEqual(before);
      expect(await codeOf(service.remove(context, 'default', true))).toBe('NAMESPACE_IN_USE');
      expect(await codeOf(service.remove(context, 'missing', true))).toBe('NAMESPACE_NOT_FOUND');
    });

    it('leave nothing behind, and nothing of others', async () => {
      const { service, registry, context } = parts();
      for (const name of ['going', 'going-on']) await service.create(context, name);
      forgotten.length = 0;
      await fill('going', 1_100, 230);
      await fill('going-on', 2, 2);
      const others = await left('going-on');
      const reply = await service.remove(context, 'going', true);
      expect(reply).toEqual({
        success: true,
        removed_agents_count: 1_100,
        removed_controls_count: 230,
        removed_policies_count: 1,
        revoked_keys_count: 1,
      });
      expect(await left('going')).toEqual(NOTHING);
      expect(forgotten).toEqual(['going']);
      expect(await left('going-on')).toEqual(others);
      // Each part has an entry, which the logs of other namespaces do not show.
      const entries = await database.client.auditEntry.findMany({ where: { resourceId: 'going' } });
      const removals = entries.filter(({ action }) => action === 'namespace.remove_content');
      expect(new Set(removals.map(({ namespace }) => namespace))).toEqual(new Set(['going']));
      expect(removals.length).toBeGreaterThan(5);
      expect(registry.known('going')).toBe(false);
      expect(await codeOf(service.get('going'))).toBe('NAMESPACE_NOT_FOUND');
      expect(await codeOf(service.remove(context, 'going', true))).toBe('NAMESPACE_NOT_FOUND');
    });

    it('leave their name unused, for good', async () => {
      const { service, context } = parts();
      const refused = service.create(context, 'going');
      await expect(refused).rejects.toMatchObject({
        code: 'NAMESPACE_CONFLICT',
        message: expect.stringContaining('deleted'),
      });
    });

    it('take no change any more, whatever a process knows', async () => {
      const { service, context, mutate } = parts();
      await service.create(context, 'late-writer');
      const write = () =>
        mutate(callerOf('late-writer'), async ({ client }) => {
          await client.agent.create({
            data: { name: 'late-writer/the-agent-1', namespace: 'late-writer', data: '{}', createdAtMs: 1n },
          });
          const audit = {
            action: 'agent.create',
            resource: 'agent',
            id: 'the-agent-1',
            before: null,
            after: null,
          } as const;
          return { value: 'written', change: { agents: [] }, audit };
        });
      expect(await write()).toBe('written');
      await service.remove(context, 'late-writer', true);
      expect(await codeOf(write())).toBe('AUTH_INSUFFICIENT_PRIVILEGES');
      expect(await left('late-writer')).toEqual(NOTHING);
    });

    it('are emptied by the upkeep if the process ends before that', async () => {
      const { service, failures, removal, context } = parts({ broken: true });
      await service.create(context, 'half-done');
      await fill('half-done', 3, 3);
      expect(await service.remove(context, 'half-done', true)).toMatchObject({ removed_agents_count: 3 });
      expect(failures).toEqual(['namespace removal']);
      // Unreachable from the start, whatever is left.
      expect(await left('half-done')).toMatchObject({ agents: 3, controls: 3, validKeys: 0 });
      expect(await codeOf(service.get('half-done'))).toBe('NAMESPACE_NOT_FOUND');
      const kept = await left('going-on');
      await removal.finish();
      expect(await left('half-done')).toEqual(NOTHING);
      expect(await left('going-on')).toEqual(kept);
    });

    it('tell other processes which programs to forget', async () => {
      const { service, context } = parts();
      await service.create(context, 'told');
      await fill('told', 2, 1);
      const source = database.changes();
      const { revision } = await source.read(Number.MAX_SAFE_INTEGER);
      await service.remove(context, 'told', true);
      const { changes } = await source.read(revision);
      await source.close();
      expect(
        changes?.map(({ access, agents, controls, policies }) => ({
          access,
          agents,
          controls: controls.length,
          policies: policies.length,
        })),
      ).toEqual([
        { access: true, agents: [], controls: 0, policies: 0 },
        { access: false, agents: ['told/agent-number-0', 'told/agent-number-1'], controls: 0, policies: 0 },
        { access: false, agents: [], controls: 1, policies: 0 },
        { access: false, agents: [], controls: 0, policies: 1 },
        // Halts.
        { access: true, agents: [], controls: 0, policies: 0 },
        // Destinations of notifications.
        { access: false, agents: [], controls: 0, policies: 0 },
      ]);
    });
  });
});
