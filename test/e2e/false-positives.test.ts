import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile, type KeyEntry } from '../support/keys-file.js';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { executeSql, queryRow } from '../support/sql.js';
import { until } from '../support/until.js';
import { replayed } from './replay.support.js';

const AGENT = 'marked-bot-01';
const MARKS = '/api/v1/observability/false-positives';
const OPERATOR: KeyEntry = { name: 'owner', key: 'the-operator-key-1', role: 'operator' };
const EDITOR: KeyEntry = { name: 'editor', key: 'the-editor-key-001', role: 'editor' };
const LIMITED: KeyEntry = { name: 'bot', key: 'the-limited-key-01', role: 'admin', agents: [AGENT] };
const OTHER: KeyEntry = { name: 'other', key: 'the-other-key-001', role: 'admin', namespace: 'other' };

describeAboveStores('false positives', (freshDatabaseUrl) => {
  const keys = createKeysFile([OPERATOR, EDITOR, LIMITED, OTHER]);
  afterAll(() => keys.remove());
  let databaseUrl = '';
  const service = suiteService(async () => {
    databaseUrl = await freshDatabaseUrl();
    return { ...keys.environment, DATABASE_URL: databaseUrl };
  });
  const as = ({ key = '' }: KeyEntry) => restClient(service.url, { 'x-api-key': key });
  const ids = new Map<KeyEntry, number>();
  let sessions = 0;

  /** Evaluates a step that matches, and returns its event. */
  const matched = async (who: KeyEntry, text: string) => {
    sessions += 1;
    const session_id = `session-${sessions}`;
    const step = { type: 'tool', name: 'send', input: { text } };
    await as(who)('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', session_id, step });
    const filter = { session_id, include_buffered: true };
    const { events } = (await as(who)('POST', '/api/v1/observability/events/query', filter)).body;
    expect(events).toHaveLength(1);
    return { control_execution_id: events[0].control_execution_id, control_id: events[0].control_id };
  };
  const marksOf = async (who: KeyEntry, query = '') => (await as(who)('GET', `${MARKS}${query}`)).body;
  const entries = async () =>
    (await as(OPERATOR)('GET', `/api/v1/audit?resource=control&resource_id=${ids.get(OPERATOR)}&limit=100`))
      .body.entries as { action: string; before: string | null; after: string | null }[];

  beforeAll(async () => {
    expect((await as(OPERATOR)('POST', '/api/v1/namespaces', { name: 'other' })).status).toBe(200);
    for (const who of [OPERATOR, OTHER]) {
      await until(
        () => as(who)('GET', '/api/v1/controls'),
        ({ status }) => status === 200,
      );
      const seed = seeder(as(who));
      const id = await seed.control('no-bad', denyWord('bad'));
      ids.set(who, id);
      await seed.agent(AGENT);
      await seed.link(AGENT, id);
    }
    expect((await as(OPERATOR)('POST', '/api/v1/sampling-rules', { share: 1 })).status).toBe(200);
  });

  describe.each(['REST over h1', 'gRPC (grpc-js)'] as const)('over %s', (protocol) => {
    const calls = async (rpc: string, input: object, { key = '' }: KeyEntry = EDITOR) => {
      const client = PROTOCOLS[protocol](service.url);
      try {
        return await client.call(methodNamed(`ObservabilityService.${rpc}`), input as never, key);
      } finally {
        client.close();
      }
    };

    it('are marked once, whoever marks at the same time, and taken away', async () => {
      const match = await matched(OPERATOR, 'bad order');
      const mark = { ...match, note: 'an order' };
      const before = (await entries()).length;
      const replies = await Promise.all(Array.from({ length: 8 }, () => calls('MarkFalsePositive', mark)));
      const made = { ...mark, agent_name: AGENT, marked_by: 'editor' };
      for (const reply of replies) expect(reply).toMatchObject({ ok: true, reply: { false_positive: made } });
      expect(await marksOf(OPERATOR)).toMatchObject({ false_positives: [made], pagination: { total: 1 } });
      expect((await entries()).length).toBe(before + 1);
      expect(await calls('MarkFalsePositive', { ...match, note: 'no card' }, OPERATOR)).toMatchObject({
        reply: { false_positive: { note: 'no card', marked_by: 'editor' } },
      });
      expect(await calls('UnmarkFalsePositive', match)).toMatchObject({ reply: { was_marked: true } });
      expect(await calls('UnmarkFalsePositive', match)).toMatchObject({ reply: { was_marked: false } });
      const state = (note: string) =>
        expect.objectContaining({
          control_execution_id: match.control_execution_id,
          agent_name: AGENT,
          note,
        });
      const told = (await entries()).slice(0, 3).map(({ action, before: was, after }) => ({
        action,
        before: JSON.parse(was ?? 'null'),
        after: JSON.parse(after ?? 'null'),
      }));
      expect(told).toEqual([
        { action: 'control.unmark_false_positive', before: state('no card'), after: null },
        { action: 'control.mark_false_positive', before: state('an order'), after: state('no card') },
        { action: 'control.mark_false_positive', before: null, after: state('an order') },
      ]);
      expect(await calls('ListFalsePositives', {})).toMatchObject({
        reply: { pagination: { total: 0 } },
      });
    });
  });

  it('are listed page by page, of a control, of events and of days', async () => {
    const matches = [];
    for (const text of ['bad one', 'bad two', 'bad three']) {
      const match = await matched(OPERATOR, text);
      matches.push(match);
      expect((await as(EDITOR)('POST', MARKS, match)).status).toBe(200);
    }
    const latestFirst = matches.map(({ control_execution_id: id }) => id).reverse();
    const idsOf = ({ false_positives: marks }: { false_positives: { control_execution_id: string }[] }) =>
      marks.map(({ control_execution_id: id }) => id);
    const first = await marksOf(OPERATOR, `?limit=2&control_id=${ids.get(OPERATOR)}&days=30`);
    expect(first.pagination).toMatchObject({ total: 3, has_more: true });
    const second = await marksOf(OPERATOR, `?limit=2&cursor=${first.pagination.next_cursor}`);
    expect(second.pagination).toMatchObject({ total: 3, has_more: false, next_cursor: null });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(latestFirst);
    const [last, , oldest] = latestFirst;
    const some = await marksOf(OPERATOR, `?control_execution_ids=${last}&control_execution_ids=${oldest}`);
    expect(idsOf(some)).toEqual([last, oldest]);
    await executeSql(
      databaseUrl,
      `UPDATE false_positives SET matched_at_ms = matched_at_ms - 172800000 WHERE control_execution_id = '${oldest}'`,
    );
    expect((await marksOf(OPERATOR, '?days=1')).pagination.total).toBe(2);
    expect((await marksOf(OPERATOR, '?days=3')).pagination.total).toBe(3);
  });

  it('are counted by a replay, with those that are denied still', async () => {
    await until(
      () => as(OPERATOR)('GET', '/api/v1/samples'),
      ({ body }) => body.pagination.total >= 5,
    );
    const data = denyWord('bad t');
    const { summary } = await replayed(
      service.url,
      { documents: [{ kind: 'Control', name: 'no-bad', data }] },
      { 'x-api-key': OPERATOR.key ?? '' },
    );
    expect(summary).toMatchObject({ false_positives: 3, false_positives_denied: 2 });
  });

  it('are those of a namespace, and go with it', async () => {
    const match = await matched(OPERATOR, 'bad');
    expect((await marksOf(OTHER)).pagination.total).toBe(0);
    const refused = await as(OTHER)('POST', MARKS, match);
    expect([refused.status, refused.body.error_code]).toEqual([404, 'EVENT_NOT_FOUND']);
    const own = await matched(OTHER, 'bad');
    expect((await as(OTHER)('POST', MARKS, own)).status).toBe(200);
    expect((await marksOf(OTHER)).false_positives).toMatchObject([{ ...own, agent_name: AGENT }]);
    const path = `${MARKS}/${own.control_id}/${own.control_execution_id}`;
    expect((await as(OPERATOR)('DELETE', path)).body).toMatchObject({ error_code: 'CONTROL_NOT_FOUND' });
    expect((await as(OPERATOR)('DELETE', '/api/v1/namespaces/other?force=true')).status).toBe(200);
    const left = `SELECT COUNT(*) FROM false_positives WHERE namespace = 'other'`;
    await until(
      () => queryRow(databaseUrl, left),
      ([count]) => Number(count) === 0,
    );
    expect((await marksOf(OPERATOR)).pagination.total).toBe(3);
  });

  it('are not for keys that are limited to agents', async () => {
    const match = await matched(OPERATOR, 'bad');
    for (const reply of [await as(LIMITED)('POST', MARKS, match), await as(LIMITED)('GET', MARKS)]) {
      expect(reply.status).toBe(403);
    }
  });
});
