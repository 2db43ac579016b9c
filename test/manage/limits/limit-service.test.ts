import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import type { WatchedMemory } from '../../../src/decide/memory/memory.js';
import { MemoryStoreError } from '../../../src/decide/memory/store/memory-store.js';
import type { MemoryCall } from '../../../src/kernel/core/memory.js';
import { RULE_REDUCERS } from '../../../src/kernel/evaluators/memory/memory-evaluators.js';
import { createControlStore } from '../../../src/manage/controls/control-store.js';
import { type ControlRule, rulesOf } from '../../../src/manage/limits/control-rules.js';
import { limitSchemas } from '../../../src/manage/limits/limit-schemas.js';
import { createLimitService, type LimitService } from '../../../src/manage/limits/limit-service.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createMutator, type Mutator } from '../../../src/storage/database/mutator.js';
import { engine } from '../../decide/memory/engine.support.js';
import { newControl } from '../../storage/database/support.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import { adminCall, registry } from '../pack-installations/updates.support.js';

const ADMIN = adminCall();
const OTHERS = adminCall(namespaceNamed('team-b'));
const AGENT = 'billing-bot-01';

const leaf = (name: string, config: JsonObject) => ({ selector: { path: '*' }, evaluator: { name, config } });
const rate = (limit: number, key: string[]) => leaf('rate', { limit, period: '24h', key });
const definition = (condition: object): string =>
  JSON.stringify({ enabled: true, execution: 'server', condition, action: { decision: 'deny' } });

describeOnEachDatabase('what controls with memory keep', (freshDatabaseUrl) => {
  let database: Database;
  let memory: WatchedMemory;
  let limits: LimitService;
  let mutate: Mutator;
  let opened = 0;
  const ids: Record<string, number> = {};

  const serviceWith = (given: WatchedMemory): LimitService =>
    createLimitService({
      database,
      mutate,
      registry,
      memory: given,
      storeKind: 'sqlite',
      maxKeys: 1_000,
      maxBytes: 1_000_000,
    });
  async function add(name: string, condition: object, namespace = ADMIN.principal.namespace) {
    const row = await mutate(ADMIN, async ({ client }) => ({
      value: await createControlStore({ client, namespace }).insert(
        newControl(name, { data: definition(condition) }),
      ),
      change: {},
      audit: { action: 'control.create', resource: 'control' as const, id: null, before: null, after: null },
    }));
    ids[name] = row.id;
    return row;
  }
  const rulesNamed = async (name: string): Promise<ControlRule[]> => {
    const row = await createControlStore(scoped(database.client)).find(ids[name] as number);
    return row === null ? [] : rulesOf(row, registry);
  };
  /** Counts a step for every check of a control. */
  async function count(
    rules: readonly ControlRule[],
    input: JsonObject = {},
    sessionId: string | null = null,
  ) {
    const identity = { namespace: 'default', agent: AGENT, sessionId, stepId: null, error: null };
    const step = { type: 'tool', name: 'send_mail', input, output: null, context: null };
    const call: MemoryCall = { step, stage: 'pre', identity };
    const hash = await memory.ready();
    for (const { rule, ruleId } of rules) {
      const key = rule.keyOf(call, hash);
      if ('missing' in key) continue;
      await memory.run({
        identity,
        stage: 'pre',
        keys: [key],
        ruleIds: [ruleId],
        marksDenied: false,
        isTrial: false,
        decide(view) {
          const moment = { nowUs: view.nowUs, sinceUs: null, isRepeated: false, stepHash: null, hash };
          const delta = rule.consume?.(view.state(key, rule.kind, ruleId), call, 'request', moment) ?? null;
          const { kind, keepUs } = rule;
          const additions = delta === null ? [] : [{ key, kind, ruleId, delta, keepUs, isLocal: false }];
          return { value: null, allowed: true, additions };
        },
      });
    }
  }
  const get = async (key: object, context = ADMIN) =>
    limits.get(context, limitSchemas.getMemoryKey.parse({ key }));
  const reset = async (key: object, reason?: string, context = ADMIN) =>
    limits.reset(context, limitSchemas.resetMemoryKey.parse({ key, reason }));
  const list = async (input: object = {}, context = ADMIN) =>
    limits.list(context, limitSchemas.listLimits.parse(input));

  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    mutate = createMutator({ database, now: () => 1_700_000_000_000, onCommit: () => undefined });
    const { memory: made } = engine({ reducers: RULE_REDUCERS });
    memory = made;
    limits = serviceWith(memory);
    await add('plain', leaf('regex', { pattern: 'x' }));
  });
  afterAll(async () => {
    await memory.close();
    await database.close();
  });

  it('is not looked for, and opens no store, without controls with memory', async () => {
    const unopened = engine({
      openStore: async () => {
        opened += 1;
        throw new MemoryStoreError('not to be opened');
      },
    });
    const idle = serviceWith(unopened.memory);
    expect(await idle.list(ADMIN, limitSchemas.listLimits.parse({}))).toEqual({
      limits: [],
      has_more: false,
    });
    const key = { control_id: ids.plain as number };
    await expect(idle.get(ADMIN, limitSchemas.getMemoryKey.parse({ key }))).rejects.toMatchObject({
      code: 'MEMORY_KEY_NOT_FOUND',
    });
    expect(idle.status(ADMIN)).toEqual({
      store: 'sqlite',
      is_used: false,
      is_available: true,
      problem: null,
      keys: 0,
      bytes: 0,
      max_keys: 1_000,
      max_bytes: 1_000_000,
      evicted_keys: 0,
    });
    expect(opened).toBe(0);
  });

  describe('of controls with limits', () => {
    beforeAll(async () => {
      await add('agent-rate', rate(4, ['agent']));
      await add('two-keys', { or: [rate(10, ['session']), { not: rate(5, ['input.account']) }] });
      const rules = await rulesNamed('agent-rate');
      for (let step = 0; step < 3; step += 1) await count(rules);
      for (let step = 0; step < 2; step += 1)
        await count(await rulesNamed('two-keys'), { account: 7 }, 's-1');
    });

    it('lists the limits nearest their end first, and those of one control', async () => {
      const all = await list({ min_used: 0.1 });
      expect(all.has_more).toBe(false);
      expect(all.limits.map(({ status }) => [status.control_name, status.remaining])).toEqual([
        ['agent-rate', 1],
        ['two-keys', 3],
        ['two-keys', 8],
      ]);
      expect(all.limits[0]).toEqual({
        key_id: expect.any(String),
        status: {
          control_id: ids['agent-rate'],
          control_name: 'agent-rate',
          evaluator_name: 'rate',
          limit: 4,
          remaining: 1,
          resets_after: expect.stringMatching(/^\d+(\.\d+)?s$/),
          retry_after: null,
          window: '86400s',
          degraded: '',
          key: AGENT,
          counts_since: null,
        },
        used_at: expect.any(String),
      });
      expect((await list()).limits).toHaveLength(1);
      expect((await list({ min_used: 0.1, control_id: ids['two-keys'] })).limits).toHaveLength(2);
      expect(await list({ min_used: 0.1, limit: 2 })).toMatchObject({ limits: [{}, {}], has_more: true });
      expect((await list({ min_used: 1 })).limits).toEqual([]);
    });

    it('finds a key by its id and by what it consists of', async () => {
      const { states } = await get({ control_id: ids['agent-rate'], agent_name: AGENT });
      expect(states).toMatchObject([
        {
          evaluator_name: 'rate',
          status: { remaining: 1 },
          kept: { used: 3 },
          key: AGENT,
          is_damaged: false,
        },
      ]);
      const byId = await get({ control_id: ids['agent-rate'], key_id: states[0]?.key_id });
      expect(byId.states.map(({ kept }) => kept)).toEqual([{ used: 3 }]);
      const session = { control_id: ids['two-keys'], agent_name: AGENT, session_id: 's-1' };
      expect((await get(session)).states).toMatchObject([{ status: { limit: 10, remaining: 8 } }]);
      const step = { type: 'tool', name: 'x', input: { account: 7 } };
      expect((await get({ control_id: ids['two-keys'], step })).states).toMatchObject([
        { status: { limit: 5 } },
      ]);
      expect((await get({ ...session, step })).states).toHaveLength(2);
    });

    it('names the parts of a key that are missing', async () => {
      const fields = async (key: object) =>
        get(key).then(
          () => [],
          (error) => error.options.items.map(({ field }: { field: string }) => field),
        );
      expect(await fields({ control_id: ids['agent-rate'] })).toEqual(['key.agent_name']);
      expect(await fields({ control_id: ids['two-keys'], agent_name: AGENT })).toEqual([
        'key.session_id',
        'key.step',
      ]);
      expect(await fields({ control_id: ids['two-keys'], session_id: 's-1' })).toEqual([
        'key.agent_name',
        'key.step',
      ]);
      const both = { control_id: 1, key_id: 'x', agent_name: AGENT };
      expect(limitSchemas.getMemoryKey.safeParse({ key: both }).success).toBe(false);
    });

    it('does not find what is not kept, or is of another namespace', async () => {
      const missing = { code: 'MEMORY_KEY_NOT_FOUND' };
      await expect(get({ control_id: ids['agent-rate'], agent_name: 'another-bot-1' })).rejects.toMatchObject(
        missing,
      );
      await expect(get({ control_id: ids['agent-rate'], key_id: 'none' })).rejects.toMatchObject(missing);
      await expect(get({ control_id: 99_999, key_id: 'none' })).rejects.toMatchObject({
        code: 'CONTROL_NOT_FOUND',
      });
      const foreign = await add('foreign-rate', rate(4, ['agent']), OTHERS.principal.namespace);
      const [kept] = (await get({ control_id: ids['agent-rate'], agent_name: AGENT })).states;
      const named = { control_id: ids['agent-rate'], key_id: kept?.key_id };
      await expect(get(named, OTHERS)).rejects.toMatchObject({ code: 'CONTROL_NOT_FOUND' });
      for (const key of [{ key_id: kept?.key_id }, { agent_name: AGENT }]) {
        await expect(get({ control_id: foreign.id, ...key }, OTHERS)).rejects.toMatchObject(missing);
        expect(await reset({ control_id: foreign.id, ...key }, 'try', OTHERS)).toEqual({ was_kept: false });
      }
      expect((await list({ min_used: 0.1 }, OTHERS)).limits).toEqual([]);
      expect((await get(named)).states).toHaveLength(1);
    });

    it('is forgotten by a reset, for one control, with an entry in the audit log that has the reason', async () => {
      const twin = await add('twin-rate', rate(8, ['agent']));
      await count(await rulesNamed('twin-rate'));
      const key = { control_id: ids['agent-rate'], agent_name: AGENT };
      expect(await reset(key, 'a mistake')).toEqual({ was_kept: true });
      await expect(get(key)).rejects.toMatchObject({ code: 'MEMORY_KEY_NOT_FOUND' });
      expect(await reset(key)).toEqual({ was_kept: false });
      expect((await get({ ...key, control_id: twin.id })).states).toMatchObject([{ kept: { used: 1 } }]);
      const entries = await database.client.auditEntry.findMany({ where: { action: 'memory.reset' } });
      expect(entries).toHaveLength(1);
      expect(entries[0]).toMatchObject({ resource: 'control', resourceId: String(key.control_id) });
      expect(JSON.parse(entries[0]?.after ?? '')).toEqual({ reason: 'a mistake' });
      expect(JSON.parse(entries[0]?.before ?? '')).toMatchObject([{ label: AGENT, kept: { used: 3 } }]);
    });

    it('is not available while the store does not answer', async () => {
      const away = engine({
        openStore: async () => {
          throw new MemoryStoreError('away');
        },
        timeoutMs: 10,
      });
      const service = serviceWith(away.memory);
      const key = { control_id: ids['agent-rate'] as number, agent_name: AGENT };
      const unavailable = { code: 'SERVICE_UNAVAILABLE' };
      await expect(service.list(ADMIN, limitSchemas.listLimits.parse({}))).rejects.toMatchObject(unavailable);
      await expect(service.get(ADMIN, limitSchemas.getMemoryKey.parse({ key }))).rejects.toMatchObject(
        unavailable,
      );
      const asked = limitSchemas.resetMemoryKey.parse({ key });
      await expect(service.reset(ADMIN, asked)).rejects.toMatchObject(unavailable);
      await away.memory.close();
    });
  });
});
