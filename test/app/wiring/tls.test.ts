import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { resolve } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { credentials } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import { exchange } from '../../support/http.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { suiteService } from '../../support/service-suite.js';

const fixture = (name: string) => resolve(import.meta.dirname, '../../fixtures/tls', name);
const CERT_FILE = fixture('test-only-server-cert.pem');
const CERT = readFileSync(CERT_FILE);
const AGENT = 'encrypted-agent';
const STEP = { type: 'llm', name: 'n', input: 'a bad thing' };
const DENY_BAD = {
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'bad' } } },
  action: { decision: 'deny' },
};

describe('the service with TLS', () => {
  const post = (method: string, path: string, body: object) =>
    exchange(
      service.url,
      { method, path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      CERT,
    );
  const service = suiteService({
    SERVICE_TLS_CERT_FILE: CERT_FILE,
    SERVICE_TLS_KEY_FILE: fixture('test-only-server-key.pem'),
  });
  beforeAll(async () => {
    expect((await post('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } })).status).toBe(
      200,
    );
    const { json } = await post('PUT', '/api/v1/controls', { name: 'no-bad', data: DENY_BAD });
    expect((await post('POST', `/api/v1/agents/${AGENT}/controls/${json.control_id}`, {})).status).toBe(200);
  });

  const stepForm = { case: 'stepJson' as const, value: Buffer.from(JSON.stringify(STEP)) };
  const request = { agentName: AGENT, stage: Stage.PRE, stepForm };

  it('logs an https address', () => {
    expect(service.url).toMatch(/^https:/);
  });
  it('denies a bad step over REST on HTTP/1.1', async () => {
    const reply = await post('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step: STEP });
    expect(reply).toMatchObject({ status: 200, json: { is_safe: false } });
  });
  it('denies a bad step over REST on HTTP/2', async () => {
    const session = http2.connect(service.url, { ca: CERT });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/api/v1/evaluation',
      'content-type': 'application/json',
    });
    stream.end(JSON.stringify({ agent_name: AGENT, stage: 'pre', step: STEP }));
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ is_safe: false });
    expect(session.alpnProtocol).toBe('h2');
    session.close();
  });
  it('redirects to https', async () => {
    const reply = await exchange(service.url, { path: '/health/' }, CERT);
    expect(reply).toMatchObject({ status: 307, headers: { location: `${service.url}/health` } });
  });
  it.each(RPC_PROTOCOLS)('denies a bad step over %s', async (protocol) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url, CERT));
    expect(await client.evaluate(request)).toMatchObject({ isSafe: false });
  });
  it.each(BIDI_PROTOCOLS)('answers a stream over %s', async (protocol) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, service.url, CERT));
    async function* messages() {
      for (const id of ['a', 'b']) yield { id, evaluations: [request] };
    }
    const ids: string[] = [];
    for await (const reply of client.evaluateStream(messages())) {
      ids.push(reply.id);
      expect(reply.results[0]?.outcome).toMatchObject({ case: 'verdict', value: { isSafe: false } });
    }
    expect(ids).toEqual(['a', 'b']);
  });
  it('denies a bad step to a client that shares no code with it', async () => {
    const client = grpcJsClient(
      { host: 'localhost', port: service.port },
      'enforcement/v1/evaluation_service.proto',
      'enforcement.v1.EvaluationService',
      credentials.createSsl(CERT),
    );
    const reply = await new Promise((done, fail) => {
      const message = { agent_name: AGENT, stage: 'STAGE_PRE', step_json: stepForm.value };
      client.Evaluate?.(message, (error: Error | null, value: unknown) =>
        error ? fail(error) : done(value),
      );
    });
    expect(reply).toMatchObject({ is_safe: false, matches: [{ control_name: 'no-bad' }] });
    client.close();
  });
  it('serves no plaintext, and reports that', async () => {
    const url = service.url.replace('https:', 'http:');
    const reply = await exchange(url, { method: 'POST', path: '/api/v1/evaluation', body: '{}' });
    expect(reply).toMatchObject({
      status: 400,
      headers: { connection: 'close' },
      json: { error_code: 'TLS_REQUIRED', instance: '/api/v1/evaluation' },
    });
  });
});
