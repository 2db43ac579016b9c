import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { type CallOptions, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { withGrowingTime } from '../support/growing-time.js';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const AGENT = 'awaited-agent';
/** Far beyond anything that is committed here. */
const FUTURE = 1_000_000;
/** Longer than anything waits here. */
const WAIT_SECONDS = '60';

const STEP = { type: 'llm', name: 'answer', input: 'word' };
const EVALUATION = create(EvaluateRequestSchema, {
  agentName: AGENT,
  stage: Stage.PRE,
  stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(STEP)) },
  minRevision: BigInt(FUTURE),
});

type Evaluation = ReturnType<typeof createClient<typeof EvaluationService>>;

/** What a caller may do that waits for a revision. */
const CALLS: Record<string, (client: Evaluation, options: CallOptions) => Promise<unknown>> = {
  Evaluate: (client, options) => client.evaluate(EVALUATION, options),
  EvaluateBatch: (client, options) =>
    client.evaluateBatch({ evaluations: Array.from({ length: 200 }, () => EVALUATION) }, options),
};

async function wholeStream(client: Evaluation, options: CallOptions): Promise<void> {
  async function* requests() {
    for (const id of ['a', 'b']) yield { id, evaluations: [EVALUATION] };
    await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
  }
  for await (const _reply of client.evaluateStream(requests(), options));
}

/** The status with which a call fails. */
async function codeOf(call: Promise<unknown> | undefined): Promise<Code | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

describe('an evaluation that waits for a revision waits no longer', () => {
  let service: TestService;
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(String(warning));
  beforeAll(async () => {
    process.on('warning', onWarning);
    service = await startService({ SERVICE_MIN_REVISION_WAIT_SECONDS: WAIT_SECONDS });
    await seeder(restClient(service.url)).agent(AGENT);
  });
  afterAll(async () => {
    await service.stop();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  async function waiting(): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return metric(parseMetrics(text), 'control_enforcement_server_waiting_for_revision');
  }
  const untilSomeWait = () => until(waiting, (count) => count > 0);
  const untilNoneWait = () => until(waiting, (count) => count === 0);

  const over = (transport: Transport) => createClient(EvaluationService, transport);

  describe.each(Object.keys(CALLS))('when the caller of %s', (name) => {
    it.each(RPC_PROTOCOLS)('cancels, over %s', async (protocol) => {
      const cancel = new AbortController();
      const call = CALLS[name]?.(over(rpcTransport(protocol, service.url)), { signal: cancel.signal });
      const ended = codeOf(call);
      await untilSomeWait();
      cancel.abort();
      expect(await ended).toBe(Code.Canceled);
      await untilNoneWait();
    });

    it.each(RPC_PROTOCOLS)('has a deadline, over %s', async (protocol) => {
      await withGrowingTime(250, async (timeoutMs) => {
        const call = CALLS[name]?.(over(rpcTransport(protocol, service.url)), { timeoutMs });
        let isOver = false;
        const ended = codeOf(call).finally(() => {
          isOver = true;
        });
        const seen = await until(waiting, (count) => count > 0 || isOver);
        expect(await ended).toBe(Code.DeadlineExceeded);
        await untilNoneWait();
        expect(seen).toBeGreaterThan(0);
      });
    });
  });

  it.each(BIDI_PROTOCOLS)('when the caller of EvaluateStream cancels, over %s', async (protocol) => {
    const cancel = new AbortController();
    const ended = codeOf(wholeStream(over(rpcTransport(protocol, service.url)), { signal: cancel.signal }));
    await until(waiting, (count) => count === 2);
    cancel.abort();
    expect(await ended).toBe(Code.Canceled);
    await untilNoneWait();
  });

  const headers = { 'content-type': 'application/json', 'x-service-min-revision': String(FUTURE) };
  const body = JSON.stringify({ agent_name: AGENT, stage: 'pre', step: STEP });

  it('when a client of the JSON routes goes away, over HTTP/1.1', async () => {
    const request = http.request(`${service.url}/api/v1/evaluation`, {
      method: 'POST',
      agent: false,
      headers,
    });
    request.on('error', () => {});
    request.end(body);
    await untilSomeWait();
    request.destroy();
    await untilNoneWait();
  });

  it('when a client of the JSON routes goes away, over HTTP/2', async () => {
    const session = http2.connect(service.url);
    await once(session, 'connect');
    const stream = session.request({ ':method': 'POST', ':path': '/api/v1/evaluation', ...headers });
    stream.on('error', () => {});
    stream.end(body);
    await untilSomeWait();
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await untilNoneWait();
    session.close();
  });
});
