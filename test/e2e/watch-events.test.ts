import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Decision, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { AppliesTo } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { openedInSuite } from '../support/opened.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { suiteService, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { type EventWatcher, watchEvents } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';

describeAboveStores('WatchEvents', (freshDatabaseUrl) => {
  const writer = suiteService(async () => ({ DATABASE_URL: await freshDatabaseUrl() }));
  const replica = suiteService(() => ({ DATABASE_URL: writer.databaseUrl }));
  const routes = eventRoutes(writer.call);
  const watchers = openedInSuite<EventWatcher>((one) => one.stop());
  let made = 0;

  function watch(
    request: Parameters<typeof watchEvents>[1] = {},
    { service = writer as TestService, protocol = 'gRPC' as RpcProtocol } = {},
  ): EventWatcher {
    const watcher = watchEvents(rpcTransport(protocol, service.url), request);
    watchers.push(watcher);
    return watcher;
  }

  /** Stores an event with a new id, and returns the id. */
  async function stored(more: object = {}): Promise<string> {
    made += 1;
    const id = `watched-${made}`;
    const reply = await routes.send(event({ control_execution_id: id, ...more }));
    expect(reply).toMatchObject({ status: 202, body: { status: 'queued' } });
    return id;
  }

  const atEnd = (watcher: EventWatcher) => until(watcher.kinds, (kinds) => kinds.includes('heartbeat'));
  const codeOf = async (watcher: EventWatcher) => {
    const end = await watcher.ended;
    return end instanceof ConnectError ? end.code : end;
  };

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    it('sends what is stored from now on, here and by another replica', async () => {
      const before = await stored();
      const near = watch({}, { protocol });
      const far = watch({}, { protocol, service: replica });
      await atEnd(near);
      await atEnd(far);
      const ids = [await stored(), await stored(), await stored()];
      for (const watcher of [near, far]) {
        await watcher.reached(ids.at(-1) as string);
        expect(watcher.ids()).toEqual(ids);
        expect(watcher.ids()).not.toContain(before);
        expect(watcher.kinds()[0]).toBe('heartbeat');
        await watcher.stop();
      }
    });

    it('resumes after a position, and sends everything from 0 on', async () => {
      const first = watch({}, { protocol });
      await atEnd(first);
      const a = await stored();
      await first.reached(a);
      await first.stop();
      const missed = [await stored(), await stored()];
      const resumed = watch({ afterPosition: first.position() }, { protocol, service: replica });
      await resumed.reached(missed[1] as string);
      expect(resumed.ids()).toEqual(missed);
      await atEnd(resumed);
      const all = watch({ afterPosition: 0n }, { protocol });
      await all.reached(missed[1] as string);
      expect(all.ids()).toEqual(Array.from({ length: made }, (_, index) => `watched-${index + 1}`));
      await resumed.stop();
      await all.stop();
    });

    it('refuses filters that are none or too long, and a position below zero', async () => {
      expect(await codeOf(watch({ afterPosition: -1n }, { protocol }))).toBe(Code.InvalidArgument);
      expect(await codeOf(watch({ startTime: 'soon' }, { protocol }))).toBe(Code.InvalidArgument);
      expect(await codeOf(watch({ traceId: 'x'.repeat(1_025) }, { protocol }))).toBe(Code.InvalidArgument);
      const name = `long-${'x'.repeat(1_020)}`;
      expect(await codeOf(watch({ agentName: name }, { protocol }))).toBe(Code.InvalidArgument);
    });
  });

  it('sends what the service records itself at once, however long its interval is', async () => {
    const call = restClient(writer.url);
    const { agent, control, link } = seeder(call);
    await agent('recorded-bot-01');
    await link('recorded-bot-01', await control('no-bad-words', denyWord('bad')));
    const watcher = watch({ agentName: 'recorded-bot-01' });
    await atEnd(watcher);
    // Services of tests write what they record once an hour.
    const { body } = await evaluate(call, 'recorded-bot-01', 'a bad word');
    await watcher.reached(
      (body.matches as { control_execution_id: string }[])[0]?.control_execution_id ?? '',
    );
    await watcher.stop();
  });

  it('sends every member of an event', async () => {
    const watcher = watch();
    await atEnd(watcher);
    const id = await stored({
      timestamp: '2001-02-03T04:05:06.000007+02:00',
      check_stage: 'post',
      applies_to: 'tool_call',
      action: 'steer',
      matched: false,
      execution_duration_ms: 1.5,
      evaluator_name: 'regex',
      selector_path: 'input',
      error_message: 'broken',
      metadata: { list: [1, 'a', null, { deep: true }] },
    });
    await watcher.reached(id);
    const { news } = watcher.messages.at(-1) ?? { news: { case: undefined } };
    const told = news.case === 'events' ? news.value.events : [];
    expect(told).toMatchObject([
      {
        event: {
          controlExecutionId: id,
          traceId: 'trace-1',
          spanId: 'span-1',
          agentName: 'events-bot-01',
          controlId: 7,
          controlName: 'no-cards',
          checkStage: Stage.POST,
          appliesTo: AppliesTo.TOOL_CALL,
          action: Decision.STEER,
          matched: false,
          confidence: 0.5,
          timestamp: '2001-02-03T04:05:06.000007+02:00',
          executionDurationMs: 1.5,
          evaluatorName: 'regex',
          selectorPath: 'input',
          errorMessage: 'broken',
          metadata: { list: [1, 'a', null, { deep: true }] },
        },
      },
    ]);
    expect(watcher.messages.at(-1)?.position).toBe(told.at(-1)?.position);
    await watcher.stop();
  });

  it('sends only what passes the filters, live and from the database, and positions advance meanwhile', async () => {
    const filter = {
      agentName: ' Filtered-Bot-1',
      controlIds: [7, 8],
      actions: [Decision.DENY],
      matched: true,
    };
    const live = watch(filter);
    await atEnd(live);
    const wanted = await stored({ agent_name: 'filtered-bot-1' });
    for (const more of [{}, { agent_name: 'filtered-bot-1', control_id: 9 }]) await stored(more);
    await stored({ agent_name: 'filtered-bot-1', action: 'steer' });
    const last = await stored({ agent_name: 'filtered-bot-1', control_id: 8 });
    await live.reached(last);
    expect(live.ids()).toEqual([wanted, last]);
    await stored({ agent_name: 'filtered-bot-1', matched: false });
    const again = watch({ ...filter, afterPosition: 0n });
    await atEnd(again);
    expect(again.ids()).toEqual([wanted, last]);
    expect(again.position()).toBeGreaterThan(again.positions().at(-1) as bigint);
    await live.stop();
    await again.stop();
  });

  it('sends an event once when it is ingested again', async () => {
    const watcher = watch({}, { service: replica });
    await atEnd(watcher);
    const id = await stored();
    await watcher.reached(id);
    await routes.send(event({ control_execution_id: id }), event({ control_execution_id: `${id}-after` }));
    await watcher.reached(`${id}-after`);
    expect(watcher.ids()).toEqual([id, `${id}-after`]);
    await watcher.stop();
  });

  it('reports that a position beyond the last event is of another state of the database', async () => {
    const known = watch();
    await atEnd(known);
    const beyond = watch({ afterPosition: known.position() + 1_000n });
    await atEnd(beyond);
    expect(beyond.kinds()).toEqual(['fellBehind 3', 'heartbeat']);
    const id = await stored();
    await beyond.reached(id);
    expect(beyond.ids()).toEqual([id]);
    await known.stop();
    await beyond.stop();
  });

  it('ends at once with UNAVAILABLE when the server shuts down', async () => {
    const url = await freshDatabaseUrl();
    const stopping = await startService({ DATABASE_URL: url, SERVICE_DRAIN_SECONDS: '60' });
    const open = RPC_PROTOCOLS.map((protocol) => watch({}, { protocol, service: stopping }));
    for (const watcher of open) await atEnd(watcher);
    // Waits for streams that would go on: with the 60 seconds of the drain this test would run out of time.
    await stopping.stop();
    for (const watcher of open) expect(await codeOf(watcher)).toBe(Code.Unavailable);
  });

  it('is off with the event store', async () => {
    const off = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_OBSERVABILITY_ENABLED: 'false',
    });
    expect(await codeOf(watch({ startTime: 'soon' }, { service: off }))).toBe(Code.Unavailable);
  });

  it('requires a key', async () => {
    const locked = await testService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'key',
    });
    expect(await codeOf(watch({}, { service: locked }))).toBe(Code.Unauthenticated);
  });
});
