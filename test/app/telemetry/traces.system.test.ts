import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { lanes } from '../../support/lanes.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.support.js';
import {
  AGENT,
  type Asked,
  asked,
  type Lane,
  parent,
  restWayTo,
  STEP_NAME,
  WAYS,
  type Way,
} from './telemetry-clients.js';

const SECRET = 'Bearer not-for-log-lines';

describe.concurrent('traces', () => {
  let receiver: OtlpReceiver;
  const services = new Map<Lane, TestService>();
  const serviceWith = (lane: Lane): TestService => {
    const service = services.get(lane);
    if (service === undefined) throw new Error('no test has begun yet');
    return service;
  };
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    for (const lane of ['lane', 'no lane'] as const) {
      const service = await startService({
        SERVICE_OTLP_ENDPOINT: receiver.url,
        SERVICE_OTLP_HEADERS: `authorization=${encodeURIComponent(SECRET)}`,
        SERVICE_OTLP_SIGNALS: 'traces',
        SERVICE_OTLP_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        SERVICE_MIN_REVISION_WAIT_SECONDS: '0.01',
        ...lanes(lane === 'lane'),
      });
      services.set(lane, service);
      const { agent, control, link } = seeder(restClient(service.url));
      await agent(AGENT);
      const steer = { action: { decision: 'steer', steering_context: { message: 'Ask first.' } } };
      await link(AGENT, await control('denies', denyWord('bad')));
      await link(AGENT, await control('steers', denyWord('odd', steer)));
      await link(AGENT, await control('observes', denyWord('new', { action: { decision: 'observe' } })));
    }
  });
  afterAll(async () => {
    for (const service of services.values()) await service.stop();
    await receiver.stop();
  });

  /** The spans of evaluations, in this order, once all of them have arrived. */
  async function spansOf(...evaluations: readonly Asked[]): Promise<ReceivedSpan[]> {
    const of = (spans: readonly ReceivedSpan[]) =>
      evaluations.flatMap(({ name }) => spans.filter(({ attributes }) => attributes[STEP_NAME] === name));
    const { spans } = await until(
      () => receiver.received(),
      (answer) => of(answer.spans).length >= evaluations.length,
    );
    return of(spans);
  }

  describe.each(WAYS)('over %s with %s', (_name, lane, protocol, open) => {
    let way: Way;
    beforeAll(() => {
      way = open(serviceWith(lane).url);
    });

    it('a span continues the trace of its caller', async () => {
      const caller = parent();
      const one = asked();
      await way.evaluate(one, { traceparent: caller.header, tracestate: 'vendor=one,other=2' });
      const [span] = await spansOf(one);
      expect(span).toMatchObject({
        name: 'run_guardrail control-enforcement',
        kind: 'SERVER',
        traceId: caller.traceId,
        parentSpanId: caller.spanId,
        traceState: 'vendor=one,other=2',
        status: { code: 'UNSET' },
        scope: 'control-enforcement-service',
      });
      expect(span?.attributes).toEqual({
        'gen_ai.operation.name': 'run_guardrail',
        'gen_ai.agent.name': AGENT,
        'control_enforcement.agent.name': AGENT,
        'control_enforcement.session.id': 'session-1',
        'control_enforcement.namespace': 'default',
        'gen_ai.conversation.id': 'session-1',
        'gen_ai.guardrail.target.type': 'input',
        'gen_ai.guardrail.verdict.type': 'allow',
        'control_enforcement.protocol': protocol,
        'control_enforcement.stage': 'pre',
        'control_enforcement.step.type': 'llm',
        'control_enforcement.step.name': one.name,
        'control_enforcement.step.id': 'step-1',
        'control_enforcement.outcome': 'allow',
        'control_enforcement.decision.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'control_enforcement.revision': expect.any(Number),
      });
    });

    it('every evaluation of a batch has a span: in its own trace, else in that of the call', async () => {
      const [caller, own] = [parent(), parent()];
      const batch = [asked(), asked({ traceparent: own.header }), asked()];
      await way.batch(batch, { traceparent: caller.header });
      const spans = await spansOf(...batch);
      expect(spans.map(({ traceId, parentSpanId }) => ({ traceId, parentSpanId }))).toEqual(
        [caller, own, caller].map(({ traceId, spanId }) => ({ traceId, parentSpanId: spanId })),
      );
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3);
    });

    it('the messages of a stream can belong to different traces', async () => {
      if (way.stream === undefined) return expect(protocol).not.toBe('grpc');
      const [caller, own] = [parent(), parent()];
      const messages = [asked({ traceparent: own.header }), asked()];
      await way.stream(messages, { traceparent: caller.header });
      const spans = await spansOf(...messages);
      expect(spans.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
        [own.traceId, own.spanId],
        [caller.traceId, caller.spanId],
      ]);
    });

    it('an evaluation that its caller does not sample has no span', async () => {
      const unsampled = [asked(), asked()];
      for (const one of unsampled) await way.evaluate(one, { traceparent: parent('00').header });
      const later = asked();
      await way.evaluate(later, { traceparent: parent().header });
      // Spans are sent in the order of their ends.
      await spansOf(later);
      const { spans } = await receiver.received();
      const found = spans.map(({ attributes }) => attributes[STEP_NAME]);
      expect(found).not.toContain(unsampled[0]?.name);
      expect(found).not.toContain(unsampled[1]?.name);
    });

    it('an invalid traceparent is ignored', async () => {
      const invalid = [
        `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
        '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7',
        'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
      ];
      const roots = invalid.map(() => asked());
      for (const [index, one] of roots.entries()) {
        await way.evaluate(one, { traceparent: invalid[index] ?? '', tracestate: 'vendor=1' });
      }
      for (const span of await spansOf(...roots)) {
        expect(span).toMatchObject({ parentSpanId: '', traceState: '' });
        expect(invalid.join()).not.toContain(span.traceId);
      }
    });

    it('an evaluation without a verdict has the code of its error', async () => {
      const one = asked({ agent: 'nobody-knows-1' });
      await expect(way.evaluate(one, {})).rejects.toThrow();
      const [span] = await spansOf(one);
      expect(span?.status).toEqual({ code: 'ERROR', message: 'AGENT_NOT_FOUND' });
      expect(span?.attributes['error.type']).toBe('AGENT_NOT_FOUND');
    });

    it('a log line about a failed evaluation names its span, and those of its call the span of the caller', async () => {
      const caller = parent();
      const one = asked({ minRevision: 1_000_000_000 });
      await expect(way.evaluate(one, { traceparent: caller.header })).rejects.toThrow();
      const [span] = await spansOf(one);
      const lines = await until(
        () =>
          serviceWith(lane)
            .logLines.map((line) => JSON.parse(line))
            .filter(({ trace_id }) => trace_id === caller.traceId),
        (found) => found.some(({ msg }) => msg === 'request'),
      );
      const failed = lines.filter(({ msg }) => msg.includes('could not be served'));
      expect(failed.length).toBeGreaterThan(0);
      for (const line of failed) expect(line.span_id).toBe(span?.spanId);
      expect(lines.find(({ msg }) => msg === 'request').span_id).toBe(caller.spanId);
    });
  });

  it.each([
    ['bad', 'deny', 'deny', ['denies']],
    ['odd', 'steer', 'modify', ['steers']],
    ['new', 'allow', 'warn', ['observes']],
    ['bad new', 'deny', 'deny', ['denies', 'observes']],
  ])(
    'the span of a step with "%s" tells the outcome %s, the verdict %s and the controls',
    async (input, outcome, verdict, matched) => {
      const one = asked({ input });
      await restWayTo(serviceWith('lane').url).evaluate(one, {});
      const [span] = await spansOf(one);
      expect(span?.attributes).toMatchObject({
        'control_enforcement.outcome': outcome,
        'gen_ai.guardrail.verdict.type': verdict,
        'gen_ai.guardrail.rule.id': span?.attributes['control_enforcement.control.id'],
        'control_enforcement.control.id': expect.stringMatching(/^\d+$/),
      });
      const names = span?.attributes['control_enforcement.controls.matched'];
      expect((names as string[]).toSorted()).toEqual(matched);
      expect(JSON.stringify(span)).not.toContain(`"${input}"`);
    },
  );

  it('the service and its configured attributes are the resource', async () => {
    const one = asked();
    await restWayTo(serviceWith('lane').url).evaluate(one, {});
    const [span] = await spansOf(one);
    expect(span?.resource).toEqual({
      'service.name': 'control-enforcement',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'service.instance.id': expect.any(String),
      'deployment.environment.name': 'test',
    });
  });

  it('the configured headers are sent and never logged', async () => {
    const { headers } = await receiver.received();
    expect(headers.length).toBeGreaterThan(0);
    for (const one of headers) expect(one.authorization).toBe(SECRET);
    expect(serviceWith('lane').logLines.join('\n')).not.toContain('not-for-log-lines');
  });

  it('sent spans are counted', async () => {
    const one = asked();
    await restWayTo(serviceWith('lane').url).evaluate(one, {});
    await spansOf(one);
    const text = await until(
      async () => (await fetch(`${serviceWith('lane').url}/metrics`)).text(),
      (page) => /_telemetry_items_total\{signal="traces",result="sent"[^}]*\} [1-9]/.test(page),
    );
    expect(text).not.toMatch(/telemetry_items_total\{[^}]*result="(failed|dropped)"[^}]*\} [1-9]/);
  });
});
