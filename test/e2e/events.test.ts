import { beforeAll, describe, expect, it } from 'vitest';
import { CLICKHOUSE_URL } from '../support/clickhouse.js';
import { restClient } from '../support/http.js';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { problem } from '../support/refusals.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { event, eventRoutes, problems, refuseEventsOf } from './events.support.js';

/** What is about tables in a database. */
const itOnDatabases = it.skipIf(CLICKHOUSE_URL !== undefined);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const REFUSED_EVENTS: [object, string[]][] = [
  [{ trace_id: ' ' }, ['events[0].trace_id value_error']],
  [{ span_id: '' }, ['events[0].span_id value_error']],
  [{ trace_id: 5 }, ['events[0].trace_id string_type']],
  [{ control_execution_id: null }, ['events[0].control_execution_id string_type']],
  [{ agent_name: 'short' }, ['events[0].agent_name value_error']],
  [{ control_id: 1.5 }, ['events[0].control_id int_from_float']],
  [{ control_id: 2 ** 31 }, ['events[0].control_id less_than_equal']],
  [{ control_id: -(2 ** 31) - 1 }, ['events[0].control_id greater_than_equal']],
  [{ control_name: null }, ['events[0].control_name string_type']],
  [{ check_stage: 'mid' }, ['events[0].check_stage literal_error']],
  [{ applies_to: 'llm' }, ['events[0].applies_to literal_error']],
  [{ action: 'block' }, ['events[0].action literal_error']],
  [{ matched: 'maybe' }, ['events[0].matched bool_parsing']],
  [{ matched: null }, ['events[0].matched bool_type']],
  [{ confidence: 1.01 }, ['events[0].confidence less_than_equal']],
  [{ confidence: -0.01 }, ['events[0].confidence greater_than_equal']],
  [{ confidence: 'x' }, ['events[0].confidence float_parsing']],
  [{ timestamp: 'yesterday' }, ['events[0].timestamp datetime_from_date_parsing']],
  [{ timestamp: null }, ['events[0].timestamp datetime_type']],
  [{ timestamp: true }, ['events[0].timestamp datetime_type']],
  [{ execution_duration_ms: -1 }, ['events[0].execution_duration_ms greater_than_equal']],
  [{ execution_duration_ms: 1e300 }, ['events[0].execution_duration_ms less_than_equal']],
  [{ evaluator_name: 5 }, ['events[0].evaluator_name string_type']],
  [{ metadata: null }, ['events[0].metadata dict_type']],
  [{ metadata: [] }, ['events[0].metadata dict_type']],
];
const REFUSED_QUERIES: [unknown, string[]][] = [
  [{ agent_name: '' }, ['agent_name value_error']],
  [{ control_ids: ['x'] }, ['control_ids[0] int_parsing']],
  [{ control_ids: Array(1_001).fill(1) }, ['control_ids too_long']],
  [{ actions: ['allow'] }, ['actions value_error']],
  [{ actions: ['deny', 5] }, ['actions value_error']],
  [{ actions: 'deny' }, ['actions value_error']],
  [{ matched: 'maybe' }, ['matched bool_parsing']],
  [{ check_stages: ['pre', 'mid'] }, ['check_stages[1] literal_error']],
  [{ applies_to: 'llm_call' }, ['applies_to list_type']],
  [{ start_time: 'x', end_time: [] }, ['start_time datetime_from_date_parsing', 'end_time datetime_type']],
  [{ limit: 0 }, ['limit greater_than_equal']],
  [{ limit: 1_001 }, ['limit less_than_equal']],
  [{ offset: -1 }, ['offset greater_than_equal']],
  [{ cursor: 5 }, ['cursor string_type']],
  [{ cursor: 'bm90IG9uZQ' }, ['cursor value_error']],
  [{ cursor: '' }, ['cursor value_error']],
  [undefined, ['missing']],
  [[], ['model_attributes_type']],
];

describeService('events', ({ service }) => {
  const routes = eventRoutes(service.call);

  const QUEUED = (n: number) => ({ received: n, enqueued: n, dropped: 0, status: 'queued' });
  const FAILED = (n: number) => ({ received: n, enqueued: 0, dropped: n, status: 'failed' });

  it('are stored, with defaults, and come back with every member', async () => {
    const before = Date.now();
    const sent = await routes.send(event({ trace_id: 'defaults' }));
    expect([sent.status, sent.body]).toEqual([202, QUEUED(1)]);
    const { status, body } = await routes.query({ trace_id: 'defaults' });
    expect(status).toBe(200);
    expect(body).toEqual({
      events: [
        {
          ...event({ trace_id: 'defaults' }),
          control_execution_id: expect.stringMatching(UUID),
          timestamp: expect.stringMatching(/Z$/),
          execution_duration_ms: null,
          evaluator_name: null,
          selector_path: null,
          error_message: null,
          metadata: {},
        },
      ],
      total: 1,
      limit: 100,
      offset: 0,
      next_cursor: null,
    });
    const at = Date.parse(body.events[0].timestamp);
    expect(at >= before && at <= Date.now()).toBe(true);
  });

  it('come back as they were sent, with all that is optional', async () => {
    const full = event({
      control_execution_id: '',
      trace_id: ' a trace ',
      control_id: -5,
      control_name: '',
      check_stage: 'post',
      applies_to: 'tool_call',
      action: 'steer',
      matched: false,
      confidence: 0.1 + 0.2,
      timestamp: '2020-05-06T07:08:09.000123+02:00',
      execution_duration_ms: 0.1,
      evaluator_name: 'regex',
      selector_path: '*',
      error_message: '',
      metadata: { big: 2 ** 60, nested: [{ text: 'a\u0000b' }], __proto__x: null },
    });
    expect((await routes.send(full)).body).toEqual(QUEUED(1));
    expect((await routes.query({ trace_id: ' a trace ' })).body.events).toEqual([full]);
  });

  it('have normalised agent names and no older action names', async () => {
    const older = ['allow', 'warn', 'log'].map((action) => event({ trace_id: 'older', action }));
    await routes.send(...older, event({ trace_id: 'older', agent_name: ' Events-BOT-02 ' }));
    const { body } = await routes.query({ trace_id: 'older', actions: ['observe', 'observe'] });
    expect(body.events.map(({ action }: { action: string }) => action)).toEqual(Array(3).fill('observe'));
    expect((await routes.query({ agent_name: 'EVENTS-bot-02' })).body.total).toBe(1);
  });

  it.each([
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05'],
    ['2026-01-02', '2026-01-02T00:00:00'],
    [1_700_000_000, '2023-11-14T22:13:20Z'],
    ['1700000000000', '2023-11-14T22:13:20Z'],
    ['2026-01-02T03:04:05.5-03:30', '2026-01-02T03:04:05.500000-03:30'],
  ])('dated %j are shown with %s', async (timestamp, shown) => {
    const id = `time ${timestamp}`;
    await routes.send(event({ control_execution_id: id, timestamp }));
    expect((await routes.query({ control_execution_id: id })).body.events[0].timestamp).toBe(shown);
  });

  it.each(REFUSED_EVENTS)('with %j are refused', async (more, expected) => {
    const reply = await routes.send(event(more));
    expect([reply.status, problems(reply)]).toEqual([422, expected]);
  });

  it('are refused over gRPC with numbers that JSON does not have', async () => {
    const grpc = PROTOCOLS['gRPC (Connect transport)'](service.url);
    const more = { confidence: 'NaN', execution_duration_ms: 'NaN' };
    const outcome = await grpc.call(methodNamed('ObservabilityService.CreateEvents'), {
      events: [event(more)],
    });
    grpc.close();
    expect(outcome).toMatchObject({
      ok: false,
      status: 'InvalidArgument',
      fields: ['events[0].confidence finite_number', 'events[0].execution_duration_ms finite_number'],
    });
  });

  it('are refused without what is required', async () => {
    const reply = await routes.send({});
    expect(problems(reply)).toEqual(
      'trace_id span_id agent_name control_id control_name check_stage applies_to action matched confidence'
        .split(' ')
        .map((name) => `events[0].${name} missing`),
    );
    expect(problems(await restClient(service.url)('POST', '/api/v1/observability/events', {}))).toEqual([
      'events missing',
    ]);
  });

  it('are refused as a whole when one of them is invalid', async () => {
    const reply = await routes.send(event({ trace_id: 'whole' }), event({ trace_id: '' }));
    expect([reply.status, problems(reply)]).toEqual([422, ['events[1].trace_id value_error']]);
    expect((await routes.query({ trace_id: 'whole' })).body.total).toBe(0);
  });

  it('come 1 to 1,000 at a time', async () => {
    expect(problems(await routes.send())).toEqual(['events too_short']);
    const many = (n: number) => Array.from({ length: n }, () => event({ trace_id: 'many' }));
    expect(problems(await routes.send(...many(1_001)))).toEqual(['events too_long']);
    expect((await routes.send(...many(1_000))).body).toEqual(QUEUED(1_000));
    expect((await routes.query({ trace_id: 'many', limit: 1 })).body.total).toBe(1_000);
  });

  it('with a known id are counted as stored, and the first one is kept', async () => {
    const twin = (id: string, control_name: string) =>
      event({ trace_id: 'twins', control_execution_id: id, control_name });
    expect((await routes.send(twin('a', 'first'), twin('a', 'second'))).body).toEqual(QUEUED(2));
    expect((await routes.send(twin('b', 'other'), twin('a', 'third'))).body).toEqual(QUEUED(2));
    const { events } = (await routes.query({ trace_id: 'twins' })).body;
    const names = events.map((one: Record<string, unknown>) => [one.control_execution_id, one.control_name]);
    expect(names.sort()).toEqual([
      ['a', 'first'],
      ['b', 'other'],
    ]);
  });

  it('with a known id are stored once when many send them at the same time', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `race-${index}`);
    const batch = (order: string[]) =>
      routes.send(...order.map((id) => event({ trace_id: 'race', control_execution_id: id })));
    const replies = await Promise.all([
      batch(ids),
      batch(ids.toReversed()),
      batch(ids),
      batch(ids.toReversed()),
    ]);
    expect(replies.map(({ status, body }) => [status, body.status])).toEqual(Array(4).fill([202, 'queued']));
    expect((await routes.query({ trace_id: 'race' })).body.total).toBe(50);
  });

  it.each([
    ['an id of more than 36 characters', { control_execution_id: 'x'.repeat(37) }],
    ['an agent name of more than 255', { agent_name: 'x'.repeat(256) }],
    ['a NUL character', { control_name: 'a\0b' }],
    ['half a surrogate pair', { error_message: '\ud800' }],
  ])('with %s fail without an error, and nothing of their batch is stored', async (what, more) => {
    const reply = await routes.send(event({ trace_id: what }), event({ trace_id: what, ...more }));
    expect([reply.status, reply.body]).toEqual([202, FAILED(2)]);
    expect((await routes.query({ trace_id: what })).body.total).toBe(0);
  });

  describe('are found', () => {
    const at = (second: number) => `2001-02-03T04:05:0${second}Z`;
    const FOUND = [
      { control_execution_id: 'f1', control_id: 101, timestamp: at(1), span_id: 'one' },
      { control_execution_id: 'f2', control_id: 102, timestamp: at(2), action: 'steer', check_stage: 'post' },
      { control_execution_id: 'f3', control_id: 102, timestamp: at(3), applies_to: 'tool_call' },
      { control_execution_id: 'f4', control_id: 103, timestamp: at(3), matched: false, action: 'log' },
    ];
    beforeAll(async () => {
      await routes.send(
        ...FOUND.map((one) => event({ trace_id: 'found', agent_name: 'found-bot-01', ...one })),
      );
    });
    it.each<[object, string[]]>([
      [{}, ['f4', 'f3', 'f2', 'f1']],
      [{ span_id: 'one' }, ['f1']],
      [{ control_execution_id: 'f2' }, ['f2']],
      [{ agent_name: 'Found-Bot-01' }, ['f4', 'f3', 'f2', 'f1']],
      [{ agent_name: 'found-bot-02' }, []],
      [{ agent_name: 'x'.repeat(300) }, []],
      [{ control_ids: [101, 103, 101] }, ['f4', 'f1']],
      [{ control_ids: [2 ** 40] }, []],
      [{ actions: ['steer', 'observe'] }, ['f4', 'f2']],
      [{ matched: false }, ['f4']],
      [{ matched: true }, ['f3', 'f2', 'f1']],
      [{ check_stages: ['post'] }, ['f2']],
      [{ applies_to: ['tool_call', 'tool_call'] }, ['f3']],
      [{ start_time: at(2) }, ['f4', 'f3', 'f2']],
      [{ end_time: at(2) }, ['f2', 'f1']],
      [{ start_time: '2001-02-03T05:05:02+01:00', end_time: '2001-02-03T04:05:02' }, ['f2']],
      [{ start_time: at(3), end_time: at(1) }, []],
      [{ span_id: 'span-1', matched: true, check_stages: ['pre'], control_ids: [102] }, ['f3']],
      [
        { span_id: '', control_ids: [], actions: [], check_stages: [], applies_to: [] },
        ['f4', 'f3', 'f2', 'f1'],
      ],
      [{ span_id: null, control_ids: null, actions: null, matched: null }, ['f4', 'f3', 'f2', 'f1']],
      [{ span_id: 'a\0' }, []],
    ])('by %j', async (filter, ids) => {
      const { body } = await routes.query({ trace_id: 'found', ...filter });
      expect(body.events.map((one: Record<string, unknown>) => one.control_execution_id)).toEqual(ids);
      expect(body.total).toBe(ids.length);
    });
    it('page by page', async () => {
      const page = async (limit: number, offset: number) => {
        const { body } = await routes.query({ trace_id: 'found', limit, offset });
        expect(body).toMatchObject({ total: 4, limit, offset });
        return body.events.map((one: Record<string, unknown>) => one.control_execution_id);
      };
      expect([await page(3, 0), await page(3, 3), await page(3, 6)]).toEqual([
        ['f4', 'f3', 'f2'],
        ['f1'],
        [],
      ]);
    });
  });

  it('are walked through by cursors, whatever is stored meanwhile', async () => {
    const sent = (id: number, second: number) =>
      event({
        trace_id: 'walked',
        control_execution_id: `w${id}`,
        timestamp: `2001-02-03T04:05:${10 + second}Z`,
      });
    await routes.send(...Array.from({ length: 10 }, (_, index) => sent(index, index % 3)));
    const found: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 5; page += 1) {
      const { body } = await routes.query({
        trace_id: 'walked',
        limit: 3,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(body.total).toBe(10 + page);
      found.push(...body.events.map((one: Record<string, unknown>) => String(one.control_execution_id)));
      cursor = body.next_cursor;
      if (cursor === null) break;
      // Later than everything: an offset would show an event twice.
      await routes.send(sent(100 + page, 40));
    }
    expect(found).toEqual(['w8', 'w5', 'w2', 'w7', 'w4', 'w1', 'w9', 'w6', 'w3', 'w0']);
    expect(cursor).toBeNull();
  });

  it.each(REFUSED_QUERIES)('are not looked for with %j', async (filter, expected) => {
    const reply = await routes.query(filter);
    expect([reply.status, problems(reply)]).toEqual([422, expected]);
  });

  it('report that observability is on', async () => {
    const { status, body } = await routes.status();
    expect([status, body]).toEqual([
      200,
      { status: 'ok', ingestor_initialized: true, store_initialized: true },
    ]);
  });

  // Events for ClickHouse wait in a spool then: test/observe/events/spool.
  itOnDatabases(
    'are refused with 503 while their table is missing, and stored when they are sent again',
    async () => {
      await executeSql(service.databaseUrl, 'ALTER TABLE "events" RENAME TO "events_away"');
      try {
        const reply = await routes.send(event());
        expect(reply).toMatchObject(problem(503, 'SERVICE_UNAVAILABLE'));
        expect(reply.headers.get('retry-after')).toBe('1');
        // What is stored can still be read.
        expect((await routes.query({})).status).toBe(200);
      } finally {
        await executeSql(service.databaseUrl, 'ALTER TABLE "events_away" RENAME TO "events"');
      }
      expect((await routes.send(event())).body).toEqual(QUEUED(1));
    },
  );

  itOnDatabases(
    'fail with 202 when the database refuses their data, and do not harm those sent at the same time',
    async () => {
      const accept = await refuseEventsOf(service.databaseUrl, 'heavy');
      try {
        const heavy = event({ trace_id: 'heavy', control_name: 'heavy' });
        const replies = await Promise.all([
          routes.send(event({ trace_id: 'light' })),
          routes.send(heavy),
          routes.send(event({ trace_id: 'light' })),
        ]);
        expect(replies.map(({ status, body }) => [status, body])).toEqual([
          [202, QUEUED(1)],
          [202, FAILED(1)],
          [202, QUEUED(1)],
        ]);
        expect((await routes.query({ trace_id: 'light' })).body.total).toBe(2);
        expect((await routes.query({ trace_id: 'heavy' })).body.total).toBe(0);
      } finally {
        await accept();
      }
    },
  );
});
