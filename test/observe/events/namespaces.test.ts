import { afterAll, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { loadEventStore } from '../../../src/app/wiring/event-store.js';
import { createAgentLimit } from '../../../src/contract/call/agent-limit.js';
import {
  ANONYMOUS,
  type AnyHandler,
  type CollectHandler,
  type HandlerCall,
} from '../../../src/contract/call/handler.js';
import { DEFAULT_NAMESPACE, type Namespace, namespaceNamed } from '../../../src/contract/call/namespace.js';
import { readConfig } from '../../../src/contract/config/config.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { createCountMeter } from '../../../src/observe/events/counts/count-meter.js';
import { createObservability, type Observability } from '../../../src/observe/events/observability.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { NO_FAILURES } from '../../support/failures.js';

const A = namespaceNamed('team-a');
const B = namespaceNamed('team-b');
const AGENT = 'shared-agent-1';
const SECRET = 'of b alone';

const eventOf = (id: string, more: object = {}) => ({
  control_execution_id: id,
  trace_id: 'trace',
  span_id: 'span',
  agent_name: AGENT,
  control_id: 7,
  control_name: 'one',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
  ...more,
});

/** A verdict of the service itself, with one match. */
function verdict(id: string): RevisedVerdict {
  const match = {
    control_execution_id: id,
    control_id: 7,
    control_name: 'one',
    action: 'deny',
    result: { matched: true, confidence: 1, message: null, metadata: null, error: null },
    steering_context: null,
  } as const;
  return {
    is_safe: false,
    confidence: 1,
    reason: null,
    matches: [match],
    errors: [],
    non_matches: [],
    selected_controls: 1,
    evaluated_controls: 1,
    skipped_controls: 0,
    revision: 1,
    staleness_seconds: null,
    schema_mismatch: null,
    outcome: 'deny',
    decision_id: '9a0e7d3a-7e0e-4c55-8f2a-4dbe2f110b8f',
  };
}

describeOnEachDatabase('the RPCs about events', (freshDatabaseUrl) => {
  let database: Database;
  let observability: Observability;
  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    const { observability: config } = readConfig({});
    const now = () => Date.now();
    observability = await createObservability({
      config,
      store: (await loadEventStore(config))({ database, now }),
      database,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      failures: NO_FAILURES,
      meter: createObservabilityMeter(),
      countMeter: createCountMeter(),
      now,
      monotonic: () => performance.now(),
    });
  });
  afterAll(async () => {
    observability.drain();
    await observability.recorder?.close();
    await observability.counts?.close();
    await observability.close();
    await database.close();
  });

  function contextOf(namespace: Namespace, agents: string[] | null = null): HandlerCall {
    return {
      principal: { ...ANONYMOUS, namespace, agents: agents === null ? null : createAgentLimit(agents) },
      requestId: 'request',
      address: null,
      signal: new AbortController().signal,
      isLenient: false,
      protocol: 'rest',
      spend() {},
      header: () => undefined,
      reportRevision: () => {},
      reportStaleness: () => {},
      warn: () => {},
      ignoredParts: () => [],
    };
  }
  type Rpc = keyof Observability['handlers'];
  async function call(namespace: Namespace, rpc: Rpc, input: object = {}, agents: string[] | null = null) {
    const handler: AnyHandler = observability.handlers[rpc];
    const context = contextOf(namespace, agents);
    if ('handle' in handler)
      return (await handler.handle(parseInput(handler.input, input as never), context)) as Record<
        string,
        never
      >;
    if ('stream' in handler) {
      const found: object[] = [];
      for await (const item of handler.stream(parseInput(handler.input, input as never), context))
        found.push(item);
      return found as never;
    }
    async function* items() {
      yield parseInput((handler as unknown as CollectHandler).item, input as never);
    }
    if ('collect' in handler) return (await handler.collect(items(), context)) as Record<string, never>;
    const found: object[] = [];
    for await (const item of handler.exchange(items(), context)) found.push(item);
    return found as never;
  }
  /** Everything that a namespace is told about events, without times. */
  async function everything(namespace: Namespace) {
    const range = { time_range: '1h', include_timeseries: true };
    return {
      all: await call(namespace, 'queryEvents'),
      estimated: await call(namespace, 'queryEvents', { total: 'estimate', include_buffered: true }),
      named: await call(namespace, 'queryEvents', { agent_name: AGENT }),
      byId: await call(namespace, 'queryEvents', { control_execution_id: 'same' }),
      byTrace: await call(namespace, 'queryEvents', { trace_id: 'trace' }),
      exported: await call(namespace, 'exportEvents'),
      stats: await call(namespace, 'getStats', { agent_name: AGENT, ...range }),
      controlStats: await call(namespace, 'getControlStats', { agent_name: AGENT, control_id: 7, ...range }),
      overview: await call(namespace, 'getStatsOverview', range),
      ofControl: await call(namespace, 'getStatsOverview', { ...range, control_id: 7 }),
      evaluations: await call(namespace, 'getEvaluationStats', { ...range, include_previous: true }),
      ofAgent: await call(namespace, 'getEvaluationStats', { ...range, agent_name: AGENT }),
      listed: await call(namespace, 'getEvaluationStats', { ...range, listed_agents: [AGENT] }),
    };
  }
  const zeroes = (text: string) => !/"(total|\w+_count|\w+_total|evaluated|denied)":"?[1-9]/.test(text);

  it('tell a namespace of its own alone, by plain names', async () => {
    const more = { control_name: SECRET, metadata: { text: SECRET } };
    expect(
      await call(B, 'createEvents', { events: [eventOf('same', more), eventOf('b-1', more)] }),
    ).toMatchObject({ enqueued: 2, status: 'queued' });
    expect(await call(B, 'ingestEvents', { events: [eventOf('b-2', more)] })).toMatchObject({ stored: 1 });
    await call(B, 'publishEvents', { events: [eventOf('b-3', more)] });
    record(B, 'b-4');
    expect(await call(B, 'flushEvents')).toEqual({ stored: 1 });

    for (const namespace of [A, DEFAULT_NAMESPACE, namespaceNamed('team')]) {
      const told = JSON.stringify(await everything(namespace), printed);
      expect(told).not.toContain(SECRET);
      expect(told).not.toContain('team-b');
      expect(zeroes(told)).toBe(true);
    }

    const own = await everything(B);
    const told = JSON.stringify(own, printed);
    expect(told).not.toContain('team-b');
    expect(own.all).toMatchObject({ total: 5, events: { length: 5 } });
    expect(own.byId).toMatchObject({
      total: 1,
      events: [{ control_execution_id: 'same', agent_name: AGENT }],
    });
    expect(own.exported).toHaveLength(5);
    expect(own.overview).toMatchObject({
      totals: { execution_count: 5 },
      agents: [{ agent_name: AGENT, execution_count: 5 }],
    });
    expect(own.stats).toMatchObject({ agent_name: AGENT, totals: { execution_count: 5 } });
    for (const evaluations of [own.evaluations, own.ofAgent, own.listed])
      expect(evaluations).toMatchObject({
        counts: { evaluated: 1, denied: 1 },
        agents: [{ agent_name: AGENT, counts: { evaluated: 1 } }],
      });
  });

  it('let no namespace find out or change an id of another one', async () => {
    await call(A, 'createEvents', {
      events: [eventOf('same', { control_name: 'of a', execution_duration_ms: 9 })],
    });
    expect(await call(A, 'queryEvents', { control_execution_id: 'same' })).toMatchObject({
      total: 1,
      events: [{ control_name: 'of a', execution_duration_ms: 9 }],
    });
    expect(await call(B, 'queryEvents', { control_execution_id: 'same' })).toMatchObject({
      total: 1,
      events: [{ control_name: SECRET, execution_duration_ms: null }],
    });
    // The client of a namespace completes the event of the service in it.
    record(A, 'checked');
    await call(A, 'flushEvents');
    for (const namespace of [B, A])
      await call(namespace, 'createEvents', { events: [eventOf('checked', { execution_duration_ms: 3 })] });
    expect(await call(A, 'queryEvents', { control_execution_id: 'checked' })).toMatchObject({
      total: 1,
      events: [{ step_name: 'answer', execution_duration_ms: 3 }],
    });
    expect(await call(B, 'queryEvents', { control_execution_id: 'checked' })).toMatchObject({
      events: [{ step_name: null }],
    });
  });

  it('page by cursors of another namespace through own events alone', async () => {
    const { next_cursor: cursor } = await call(B, 'queryEvents', { limit: 1 });
    expect(cursor).toEqual(expect.any(String));
    const page = JSON.stringify(await call(A, 'queryEvents', { cursor }), printed);
    expect(page).not.toContain(SECRET);
  });

  it('flush what all have recorded, and say how much of it is of the caller', async () => {
    for (const id of ['a-1', 'a-2']) record(A, id);
    record(B, 'b-5');
    const [ofA, ofB] = await Promise.all([call(A, 'flushEvents'), call(B, 'flushEvents')]);
    expect([ofA, ofB]).toEqual([{ stored: 2 }, { stored: 1 }]);
    record(B, 'b-6');
    expect(await call(A, 'flushEvents')).toEqual({ stored: 0 });
  });

  it('watch events of their own namespace, also those of the same filter', async () => {
    const watch = (namespace: Namespace, controller: AbortController) =>
      observability.handlers.watchEvents.stream(
        parseInput(observability.handlers.watchEvents.input, { agent_name: AGENT, after_position: 0 }),
        { ...contextOf(namespace), signal: controller.signal },
      );
    const seen = async (namespace: Namespace) => {
      const controller = new AbortController();
      const found: { control_execution_id: string }[] = [];
      for await (const message of watch(namespace, controller)) {
        const { events } = message as { events?: { events: { event: { control_execution_id: string } }[] } };
        if (events === undefined) break;
        found.push(...events.events.map(({ event }) => event));
      }
      controller.abort();
      return found;
    };
    const ofA = await seen(A);
    const ofB = await seen(B);
    expect(ofA.map(({ control_execution_id: id }) => id).toSorted()).toEqual([
      'a-1',
      'a-2',
      'checked',
      'same',
    ]);
    expect(ofB.some(({ control_execution_id: id }) => id.startsWith('a-'))).toBe(false);
    expect(JSON.stringify(ofA)).not.toContain(SECRET);
    expect(await seen(DEFAULT_NAMESPACE)).toEqual([]);
  });

  it('take events of a limited key about controls of its own namespace alone', async () => {
    const add = (text: string) => database.bulk.transaction((tx) => tx.run(Prisma.raw(text)));
    const [yes, no] = database.kind === 'sqlite' ? ['1', '0'] : ['TRUE', 'FALSE'];
    await add(`INSERT INTO "agents" ("id", "name", "namespace", "data", "created_at_ms")
      VALUES (1, '${AGENT}', 'default', '{}', 1), (2, 'team-a/${AGENT}', 'team-a', '{}', 1)`);
    await add(`INSERT INTO "controls" ("id", "name", "live_name", "namespace", "data", "enabled", "template_backed", "restricts_step_types", "restricts_stages", "created_at_ms", "updated_at_ms")
      VALUES (1, 'mine', 'team-a/mine', 'team-a', '{}', ${yes}, ${no}, ${no}, ${no}, 1, 1), (2, 'theirs', NULL, 'team-b', '{}', ${yes}, ${no}, ${no}, ${no}, 1, 1)`);
    await add('INSERT INTO "agent_controls" ("agent_id", "control_id") VALUES (2, 1)');
    const events = [1, 2].map((id) => eventOf(`limited-${id}`, { control_id: id }));
    expect(await call(A, 'createEvents', { events }, [AGENT])).toMatchObject({
      enqueued: 1,
      status: 'partial',
    });
    expect(await call(DEFAULT_NAMESPACE, 'createEvents', { events }, [AGENT])).toMatchObject({ enqueued: 0 });
    expect(await call(A, 'queryEvents', { control_execution_id: 'limited-1' })).toMatchObject({
      events: [{ control_name: 'mine', agent_name: AGENT }],
    });
  });

  function record(namespace: Namespace, id: string): void {
    const caller = {
      namespace,
      protocol: 'rest',
      header: () => undefined,
      signal: new AbortController().signal,
      spend: () => {},
    };
    const step = { type: 'llm', name: 'answer', input: null, output: null, context: null };
    const made = verdict(id);
    const request = { agentName: AGENT, stage: 'pre', step, options: null } as const;
    const agent = namespace.agentKey(AGENT);
    const { recorder, counts } = observability;
    for (const observer of [recorder, counts?.observer]) {
      observer?.told({
        ...{ request, verdict: made, caller, agent, loaded: null },
        ...{ differs: false, isAnswered: true },
      });
    }
  }
});

function printed(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
