import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnSqlite } from '../support/databases.js';
import { restClient } from '../support/http.js';
import {
  methodNamed,
  PROTOCOL_NAMES,
  PROTOCOLS,
  type ProtocolClient,
  STREAMING_PROTOCOLS,
} from '../support/protocol-clients.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { eventRoutes } from './events.support.js';

const AGENT = 'options-agent-1';
const EVALUATE = methodNamed('EvaluationService.Evaluate');
const BATCH = methodNamed('EvaluationService.EvaluateBatch');
const STREAM = methodNamed('EvaluationService.EvaluateStream');
const EXPLAIN = methodNamed('EvaluationService.Explain');
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const step = (text: string) => ({ type: 'llm', name: 'answer', input: { text } });
const evaluation = (text: string, more: object = {}) => ({
  agent_name: AGENT,
  stage: 'pre',
  step: step(text),
  ...more,
});

/** Requests with an invalid option, and the offending member with its code. */
const INVALID: [string, object, string][] = [
  ['an empty session id', { session_id: '' }, 'session_id string_too_short'],
  ['a session id that is too long', { session_id: 'x'.repeat(256) }, 'session_id string_too_long'],
  ['a step id that is too long', { step_id: 'x'.repeat(256) }, 'step_id string_too_long'],
  [
    'a traceparent of zeros',
    { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
    'traceparent string_pattern_mismatch',
  ],
  [
    'a traceparent in upper case',
    { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` },
    'traceparent string_pattern_mismatch',
  ],
  [
    'a traceparent of version ff',
    { traceparent: `ff-${TRACE}-${SPAN}-01` },
    'traceparent string_pattern_mismatch',
  ],
  ['a timeout of 0', { timeout: '0s' }, 'timeout value_error'],
  ['a negative timeout', { timeout: '-1s' }, 'timeout value_error'],
  ['a timeout of more than an hour', { timeout: '3600.1s' }, 'timeout value_error'],
  ['the error of a step before it runs', { step_error: 'failed' }, 'step_error value_error'],
  ['an empty error of a step before it runs', { step_error: '' }, 'step_error value_error'],
  [
    'an error of a step that is too long',
    { stage: 'post', step_error: 'x'.repeat(4_097) },
    'step_error string_too_long',
  ],
];

describeOnSqlite('the options of an evaluation', (freshDatabaseUrl) => {
  const ids: Record<string, number> = {};
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.02',
    SERVICE_MIN_REVISION_WAIT_SECONDS: '30',
  }));
  beforeAll(async () => {
    const { agent, control, link } = service.seed;
    await agent(AGENT);
    const steer = { action: { decision: 'steer', steering_context: { message: 'Ask first.' } } };
    ids.deny = await control('denies', denyWord('bad'));
    ids.steer = await control('steers', denyWord('odd', steer));
    for (const id of Object.values(ids)) await link(AGENT, id);
  });

  describe.each(PROTOCOL_NAMES)('over %s', (protocol) => {
    const isRest = protocol.startsWith('REST');
    let client: ProtocolClient;
    beforeAll(() => {
      client = PROTOCOLS[protocol](service.url);
    });
    afterAll(() => client.close());
    const reply = async (input: object): Promise<Record<string, unknown>> => {
      const outcome = await client.call(EVALUATE, input);
      if (!outcome.ok) throw new Error(`${outcome.reason} ${(outcome.fields ?? []).join()}`);
      return outcome.reply;
    };

    it.each([
      ['good', 'allow', true],
      ['bad', 'deny', false],
      ['odd', 'steer', false],
      ['bad and odd', 'deny', false],
    ])('the outcome of a step that is %s is %s', async (text, outcome, is_safe) => {
      const asked = await reply(evaluation(text, { accepts: ['allow', 'deny', 'steer', 'ask'] }));
      expect(asked).toMatchObject({ outcome, is_safe, decision_id: expect.stringMatching(UUID) });
      const usual = await reply(evaluation(text));
      expect(usual).toMatchObject(
        isRest ? { outcome: null, decision_id: null } : { outcome, decision_id: expect.stringMatching(UUID) },
      );
      expect(asked).toMatchObject({ selected_controls: 2, evaluated_controls: 2, skipped_controls: 0 });
      const unasked = isRest ? null : 2;
      expect(usual).toMatchObject({ selected_controls: unasked, evaluated_controls: unasked });
      expect(usual).toMatchObject({ skipped_controls: isRest ? null : 0 });
      if (!isRest) expect(usual.decision_id).not.toBe(asked.decision_id);
    });

    it('is deny for a step that is to be corrected if the caller does not accept steer', async () => {
      const accepts = ['allow', 'deny'];
      expect(await reply(evaluation('odd', { accepts }))).toMatchObject({ outcome: 'deny', is_safe: false });
      expect(await reply(evaluation('good', { accepts }))).toMatchObject({ outcome: 'allow', is_safe: true });
    });

    it.each(INVALID)('refuses %s', async (_what, options, field) => {
      expect(await client.call(EVALUATE, evaluation('good', options))).toMatchObject({
        ok: false,
        reason: 'VALIDATION_ERROR',
        fields: [field],
      });
    });

    it('takes the error of a step after it ran, alone and in a batch', async () => {
      const failed = ['', 'x'.repeat(4_096)].map((step_error) =>
        evaluation('good', { stage: 'post', step_error }),
      );
      for (const one of failed) expect(await client.call(EVALUATE, one)).toMatchObject({ ok: true });
      const early = evaluation('good', { step_error: 'failed' });
      expect(await client.call(BATCH, { evaluations: [...failed, early] })).toMatchObject({
        reply: { results: [{ verdict: {} }, { verdict: {} }, { verdict: null, error: { code: 3 } }] },
      });
    });

    it('fails with DEADLINE_EXCEEDED after its own timeout, and the others of its batch do not', async () => {
      const late = evaluation('good', { min_revision: 1_000_000, timeout: '0.05s' });
      expect(await client.call(EVALUATE, late)).toMatchObject({
        ok: false,
        reason: 'DEADLINE_EXCEEDED',
        status: isRest ? 504 : 'DeadlineExceeded',
      });
      const batch = await client.call(BATCH, { evaluations: [late, evaluation('bad', { timeout: '5s' })] });
      expect(batch).toMatchObject({
        ok: true,
        reply: {
          results: [
            { verdict: null, error: { code: 4 } },
            { verdict: { is_safe: false }, error: null },
          ],
        },
      });
    });

    it('records the trace of each evaluation of a batch', async () => {
      const { query } = eventRoutes(restClient(service.url));
      const trace = (n: number) => `${TRACE.slice(0, -2)}${PROTOCOL_NAMES.indexOf(protocol)}${n}`;
      const evaluations = [1, 2].map((n) => evaluation('bad', { traceparent: `00-${trace(n)}-${SPAN}-01` }));
      expect(await client.call(BATCH, { evaluations })).toMatchObject({ ok: true });
      for (const n of [1, 2]) {
        const found = await until(
          () => query({ trace_id: trace(n) }),
          ({ body }) => body.total > 0,
        );
        expect(found.body).toMatchObject({ total: 1, events: [{ span_id: SPAN, control_name: 'denies' }] });
      }
    });

    it('explains a step sent as text, at a revision that is known', async () => {
      const asked = { agent_name: AGENT, stage: 'pre', step_json: JSON.stringify(step('bad')) };
      const explained = await client.call(EXPLAIN, { ...asked, min_revision: 1 });
      expect(explained).toMatchObject({ ok: true, reply: { verdict: { is_safe: false, outcome: 'deny' } } });
      expect(await client.call(EXPLAIN, { ...asked, min_revision: 1_000_000 })).toMatchObject({
        ok: false,
        reason: 'SERVICE_UNAVAILABLE',
      });
      expect(await client.call(EXPLAIN, { ...asked, step: step('bad') })).toMatchObject({
        ok: false,
        fields: ['step_json value_error'],
      });
      expect(await client.call(EXPLAIN, { ...asked, step_json: '{' })).toMatchObject({
        ok: false,
        fields: ['step_json json_invalid'],
      });
      expect(await client.call(EXPLAIN, { agent_name: AGENT, stage: 'pre' })).toMatchObject({
        ok: false,
        fields: ['step missing'],
      });
    });
  });

  it.each(STREAMING_PROTOCOLS)(
    'fails one evaluation of a stream at its timeout, over %s',
    async (protocol) => {
      const client = PROTOCOLS[protocol](service.url);
      const late = evaluation('good', { min_revision: 1_000_000, timeout: '0.05s' });
      const replies = await client.stream(STREAM, [
        { id: 'late', evaluations: [late] },
        { id: 'soon', evaluations: [evaluation('bad', { session_id: 's', step_id: '1' })] },
      ]);
      const byId = new Map(replies.map(({ id, results }) => [id, results]));
      expect(byId.get('soon')).toMatchObject([{ verdict: { outcome: 'deny' } }]);
      expect(byId.get('late')).toMatchObject([{ error: { code: 4 } }]);
      client.close();
    },
  );
});
