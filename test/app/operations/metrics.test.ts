import http from 'node:http';
import http2 from 'node:http2';
import { create, type DescMethod } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  EvaluatorService,
  ListEvaluatorsRequestSchema,
} from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { handler } from '../../../src/contract/call/handler.js';
import { VERSION } from '../../../src/contract/runtime/package-root.js';
import { createDoor, type Door } from '../../serve/listener/support/events.js';
import { startHost, type TestHost } from '../../support/host.js';
import { exchange, restClient } from '../../support/http.js';
import { metric, parseMetrics, type Sample } from '../../support/prometheus.js';
import { RPC_PROTOCOLS, type RpcProtocol, rpcTransport } from '../../support/rpc-transports.js';
import { denyWord, evaluate } from '../../support/seed.js';
import { suiteService, testService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const PREFIX = 'acme';
const AGENT = 'measured-agent';
const JSON_TYPE = { 'content-type': 'application/json' };

async function scrape(service: { readonly url: string }): Promise<Sample[]> {
  return parseMetrics((await exchange(service.url, { path: '/metrics' })).text);
}

const PROTOCOL_LABELS: Record<RpcProtocol, string> = {
  gRPC: 'grpc',
  'gRPC-Web over HTTP/1.1': 'grpc-web',
  'gRPC-Web over HTTP/2': 'grpc-web',
  'Connect over HTTP/1.1': 'connect',
  'Connect over HTTP/2': 'connect',
};

describe('the metrics', () => {
  const service = suiteService({ SERVICE_PROMETHEUS_METRICS_PREFIX: `${PREFIX}_` });
  const { seed } = service;
  beforeAll(async () => {
    await seed.agent(AGENT);
    for (const decision of ['deny', 'steer', 'observe']) {
      const action = { decision, ...(decision === 'steer' ? { steering_context: { message: 'm' } } : {}) };
      await seed.link(AGENT, await seed.control(`on-${decision}`, denyWord(decision, { action })));
    }
    await seed.agent('broken-agent');
    const condition = { selector: {}, evaluator: { name: 'not-installed', config: {} } };
    await seed.link('broken-agent', await seed.control('broken', denyWord('x', { condition })));
  });

  it('are text in the format of Prometheus', async () => {
    const reply = await exchange(service.url, { path: '/metrics' });
    expect(reply.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(parseMetrics(reply.text).length).toBeGreaterThan(50);
  });
  it('carry the configured prefix and the name of the application, all of them', async () => {
    for (const { name, labels } of await scrape(service)) {
      expect(name.startsWith(`${PREFIX}_`) && !name.startsWith(`${PREFIX}__`)).toBe(true);
      expect(labels.app_name).toBe('control-enforcement-service');
    }
  });
  it('include those of the process', async () => {
    const samples = await scrape(service);
    expect(metric(samples, `${PREFIX}_process_resident_memory_bytes`)).toBeGreaterThan(0);
    expect(metric(samples, `${PREFIX}_nodejs_heap_size_used_bytes`)).toBeGreaterThan(0);
  });
  it('tell the version', async () => {
    expect(metric(await scrape(service), `${PREFIX}_info`, { version: VERSION })).toBe(1);
  });
  it('report snapshot, revision and database', async () => {
    await evaluate(restClient(service.url), AGENT, 'x');
    const samples = await scrape(service);
    const { json } = await exchange(service.url, { path: '/health' });
    expect(metric(samples, `${PREFIX}_snapshot_agents`)).toBeGreaterThan(0);
    expect(metric(samples, `${PREFIX}_revision`)).toBe(json.revision);
    expect(metric(samples, `${PREFIX}_database_up`)).toBe(1);
  });

  it.each([
    ['GET', '/api/v1/agents/measured-agent', '/api/v1/agents/{agent_name}', '200'],
    ['GET', '/api/v1/agents/nobody-at-all', '/api/v1/agents/{agent_name}', '404'],
    ['GET', '/api/v1/controls/x', '/api/v1/controls/{control_id}', '422'],
    ['POST', '/api/v1/evaluation', '/api/v1/evaluation', '422'],
  ])('count and time JSON requests: %s %s', async (method, path, template, status_code) => {
    const labels = { method, path: template, status_code };
    const before = await scrape(service);
    await exchange(service.url, { method, path });
    await exchange(service.url, { method, path });
    const after = await scrape(service);
    for (const name of ['requests_total', 'request_duration_seconds_count']) {
      const grown = metric(after, `${PREFIX}_${name}`, labels) - metric(before, `${PREFIX}_${name}`, labels);
      expect({ name, grown }).toEqual({ name, grown: 2 });
    }
    expect(metric(after, `${PREFIX}_requests_in_progress`, { method, path: template })).toBe(0);
  });
  it('do not count what is not served, nor themselves, nor health', async () => {
    for (const [method, path] of [
      ['GET', '/health'],
      ['GET', '/ready'],
      ['GET', '/nothing/planted-path'],
      ['GET', '/api/v1/planted-path'],
      ['PATCH', '/api/v1/agents'],
      ['GET', '/health/'],
    ]) {
      await exchange(service.url, { method: method ?? '', path: path ?? '' });
    }
    const samples = (await scrape(service)).filter(({ name }) => name.startsWith(`${PREFIX}_request`));
    const paths = new Set(samples.map((sample) => sample.labels.path));
    for (const path of paths) expect(path).toMatch(/^\/api\/v1\//);
    expect([...paths].join()).not.toContain('planted');
    expect(samples.filter((sample) => sample.labels.method === 'PATCH')).toEqual([]);
  });
  it('have bounds below a millisecond and up to the longest requests', async () => {
    await evaluate(restClient(service.url), AGENT, 'x');
    const bounds = (name: string) =>
      new Set(
        scraped
          .filter((sample) => sample.name === `${PREFIX}_${name}_bucket`)
          .map((sample) => Number(sample.labels.le)),
      );
    const scraped = await scrape(service);
    const ofRequests = [...bounds('request_duration_seconds')];
    expect(ofRequests.filter((bound) => bound < 0.001).length).toBeGreaterThanOrEqual(3);
    expect(ofRequests).toContain(30);
  });

  it.each(RPC_PROTOCOLS)('count and time calls by protocol and code: %s', async (protocol) => {
    const rpc = 'enforcement.v1.EvaluationService/Evaluate';
    const labels = { rpc, protocol: PROTOCOL_LABELS[protocol] };
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url));
    const step = { type: 'llm', name: 'n', input: { kind: { case: 'stringValue' as const, value: 'x' } } };
    const stepForm = { case: 'step' as const, value: step };
    const before = await scrape(service);
    await client.evaluate({ agentName: AGENT, stage: Stage.PRE, stepForm });
    await client.evaluate({ agentName: 'nobody-at-all', stage: Stage.PRE, stepForm }).catch(() => {});
    await client.evaluate({ agentName: 'x' }).catch(() => {});
    // A call is counted when its reply has left, which the client may learn first.
    const after = await until(
      () => scrape(service),
      (samples) =>
        metric(samples, `${PREFIX}_rpcs_total`, labels) - metric(before, `${PREFIX}_rpcs_total`, labels) >= 3,
    );
    const grown = (name: string, more: object = {}) =>
      metric(after, `${PREFIX}_${name}`, { ...labels, ...more }) -
      metric(before, `${PREFIX}_${name}`, { ...labels, ...more });
    expect(grown('rpcs_total', { code: 'ok' })).toBe(1);
    expect(grown('rpcs_total', { code: 'not_found' })).toBe(1);
    expect(grown('rpcs_total', { code: 'invalid_argument' })).toBe(1);
    expect(grown('rpc_duration_seconds_count')).toBe(3);
    expect(metric(after, `${PREFIX}_rpcs_in_progress`, labels)).toBe(0);
    const evaluated = { decision: 'allow', stage: 'pre', protocol: PROTOCOL_LABELS[protocol] };
    const evaluations = `${PREFIX}_evaluations_total`;
    expect(metric(after, evaluations, evaluated) - metric(before, evaluations, evaluated)).toBe(1);
  });

  it.each([
    ['deny', AGENT, 'deny steer observe'],
    ['steer', AGENT, 'steer observe'],
    ['observe', AGENT, 'observe'],
    ['allow', AGENT, 'nothing'],
    ['error', 'broken-agent', 'nothing'],
  ])('count evaluations by decision: %s', async (decision, agent, input) => {
    const name = `${PREFIX}_evaluations_total`;
    const before = await scrape(service);
    expect((await evaluate(restClient(service.url), agent, input)).status).toBe(200);
    const after = await scrape(service);
    expect(metric(after, name) - metric(before, name)).toBe(1);
    const labels = { decision, stage: 'pre', protocol: 'rest' };
    expect(metric(after, name, labels) - metric(before, name, labels)).toBe(1);
  });
});

describe('the metrics of running requests', () => {
  const PATH = '/api/v1/evaluators';
  const RPC = 'enforcement.v1.EvaluatorService/ListEvaluators';
  const METHOD = EvaluatorService.method.listEvaluators as DescMethod;
  let host: TestHost;
  let door: Door;
  beforeEach(async () => {
    door = createDoor();
    const listEvaluators = handler(z.object({}), async () => {
      await door.pass();
      return { evaluators: {} };
    });
    host = await startHost(EvaluatorService, { listEvaluators }, { PROMETHEUS_METRICS_PREFIX: PREFIX });
  });
  afterEach(async () => {
    door.open();
    await host.stop();
  });
  const running = async (name: string) => metric(await scrape(host), `${PREFIX}_${name}`);
  const untilNoneRuns = (name: string) =>
    until(
      () => running(name),
      (count) => count === 0,
    );

  it('show a JSON request while it runs', async () => {
    const reply = exchange(host.url, { path: PATH });
    await door.reached;
    expect(await running('requests_in_progress')).toBe(1);
    door.open();
    expect((await reply).status).toBe(200);
    await untilNoneRuns('requests_in_progress');
  });
  it('drop a JSON request whose client went away', async () => {
    const request = http.get(host.url + PATH);
    request.on('error', () => {});
    await door.reached;
    request.destroy();
    await untilNoneRuns('requests_in_progress');
    expect(metric(await scrape(host), `${PREFIX}_requests_total`, { path: PATH, status_code: '499' })).toBe(
      1,
    );
  });
  it('drop a JSON request on HTTP/2 whose client went away', async () => {
    const session = http2.connect(host.url);
    const stream = session.request({ ':path': PATH });
    stream.on('error', () => {});
    await door.reached;
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await untilNoneRuns('requests_in_progress');
    expect(metric(await scrape(host), `${PREFIX}_requests_total`, { path: PATH, status_code: '499' })).toBe(
      1,
    );
    session.close();
  });
  it.each(RPC_PROTOCOLS)('show and drop a call over %s', async (protocol) => {
    const message = create(ListEvaluatorsRequestSchema);
    const call = (signal?: AbortSignal) =>
      rpcTransport(protocol, host.url).unary(METHOD as never, signal, undefined, {}, message);
    const cancel = new AbortController();
    const cancelled = call(cancel.signal).catch(() => 'cancelled');
    await door.reached;
    expect(await running('rpcs_in_progress')).toBe(1);
    cancel.abort();
    expect(await cancelled).toBe('cancelled');
    await untilNoneRuns('rpcs_in_progress');
    const labels = { rpc: RPC, protocol: PROTOCOL_LABELS[protocol], code: 'canceled' };
    expect(metric(await scrape(host), `${PREFIX}_rpcs_total`, labels)).toBe(1);
    door.open();
    await call();
    await untilNoneRuns('rpcs_in_progress');
  });
  it('drop requests whose bodies never arrive', async () => {
    door.open();
    const service = await testService({ PROMETHEUS_METRICS_PREFIX: PREFIX });
    for (const [path, type, gauge] of [
      ['/api/v1/evaluation', 'application/json', 'requests_in_progress'],
      ['/enforcement.v1.EvaluationService/Evaluate', 'application/json', 'rpcs_in_progress'],
      ['/enforcement.v1.EvaluationService/Evaluate', 'application/grpc-web', 'rpcs_in_progress'],
    ] as const) {
      const headers = { ...JSON_TYPE, 'content-type': type, 'content-length': 1_000 };
      const request = http.request(service.url + path, { method: 'POST', headers });
      request.on('error', () => {});
      request.write('{');
      const gaugeOf = async () => metric(await scrape(service), `${PREFIX}_${gauge}`);
      await until(gaugeOf, (count) => count === 1);
      request.destroy();
      await until(gaugeOf, (count) => count === 0);
    }
  });
});
