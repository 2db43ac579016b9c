import { fromBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  GetAgentRequestSchema,
  GetAgentResponseSchema,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import {
  EvaluateResponseSchema,
  EvaluateStreamResponseSchema,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  callConnect,
  callConnectRaw,
  callConnectStreamRaw,
  callGrpc,
  callGrpcRaw,
  callGrpcWeb,
  callGrpcWebRaw,
  onlyReply,
  sendHttp2,
  violationsOf,
  wire,
} from '../support/bad-input-rpc.js';
import { LONE_SURROGATE } from '../support/bad-input-values.js';
import { describeOnPostgresql } from '../support/databases.js';
import { errorLines } from '../support/error-lines.js';
import { exchange, restClient, sendRaw } from '../support/http.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { conditioned, DEFINITION } from './definitions.js';
import { ODD_CONTROLS, ODD_MESSAGES, ODD_STEPS, ODD_STEPS_AGENT } from './odd-evaluations.js';
import {
  ODD_AGENT,
  ODD_CHANGES,
  ODD_CONTROL,
  ODD_METADATA,
  ODD_READS,
  type OddRequest,
  UNUSUAL_TEXT,
} from './odd-requests.js';
import { RAW_CASES } from './raw-cases.js';
import { AGENT, BAD_REQUESTS, CONTROL, CONTROL_ID, MAX_BODY_BYTES } from './rest-cases.js';
import { bytesOf } from './rest-request.js';
import { BAD_MESSAGES } from './rpc-cases.js';
import { message, stepJson } from './rpc-messages.js';
import { GOOD, STREAM_CASES, type StreamAnswer } from './stream-cases.js';
import { TRANSPORT_CASES } from './transport-cases.js';

/** As pino writes it. */
const JSON_TYPE = { 'content-type': 'application/json' };

const CALLS = { gRPC: callGrpcRaw, 'gRPC-Web': callGrpcWebRaw, Connect: callConnectRaw };

/** A reply of EvaluateStream as the table of streams writes it. */
function streamReply(bytes: Buffer): [id: string, ...answers: StreamAnswer[]] {
  const { id, results } = fromBinary(EvaluateStreamResponseSchema, bytes);
  return [
    id,
    ...results.map(({ outcome }): StreamAnswer => {
      if (outcome.case !== 'error') return 'verdict';
      return [status[outcome.value.code] ?? '', ...violationsOf(outcome.value)];
    }),
  ];
}

function restPath(path: string): string {
  return path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
}

function sorted(values: readonly unknown[]): string[] {
  return values.map((one) => JSON.stringify(one)).sort();
}

describeOnPostgresql('bad input', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
  }));
  beforeAll(async () => {
    const call = restClient(`${service.url}/api/v1`);
    await call('POST', '/agents/initAgent', { agent: { agent_name: AGENT } });
    await call('PUT', '/controls', { name: CONTROL, data: DEFINITION });
    const linked = await call('POST', `/agents/${AGENT}/controls/${CONTROL_ID}`);
    expect(linked.status).toBe(200);
  });

  async function rest({ method, path, headers = {}, body }: Omit<OddRequest, 'name' | 'reply'>) {
    const reply = await exchange(service.url, { method, path: restPath(path), headers, body: bytesOf(body) });
    return { status: reply.status, body: JSON.parse(reply.body.toString()) };
  }

  async function expectHealthy(): Promise<void> {
    // Over a connection that other tests have used, too.
    const health = () => restClient(service.url)('GET', '/health');
    // On a busy machine a large request may keep the service from hearing the database for a moment.
    const told = await until(health, ({ body }) => body.database === 'up');
    expect(told).toMatchObject({ status: 200, body: { status: 'healthy' } });
  }

  const versions = { 'HTTP/1.1': exchange, 'HTTP/2': sendHttp2 };
  describe.each(Object.entries(versions))('over REST on %s is refused', (version, send) => {
    it.each(BAD_REQUESTS)('$name', async (request) => {
      const { method, path, refusal } = request;
      const bytes = bytesOf(request.body);
      const headers = { ...request.headers };
      if (version === 'HTTP/2') {
        // There it is what a body without a stated length is.
        if (headers['transfer-encoding'] === undefined)
          headers['content-length'] = String(bytes?.length ?? 0);
        delete headers['transfer-encoding'];
      }
      const reply = await send(service.url, { method, path: restPath(path), headers, body: bytes });
      const body = JSON.parse(reply.body.toString());
      const { reason, http, fields = [] } = refusal;
      const items = body.errors?.map(({ field = '', code }: Record<string, string>) =>
        `${field} ${code}`.trim(),
      );
      expect({ status: reply.status, reason: body.error_code ?? '', items }).toEqual({
        status: http,
        reason,
        items: fields.length === 0 ? undefined : fields,
      });
      expect(body.detail).toEqual(expect.any(String));
      await expectHealthy();
    });
  });

  const protocols = { gRPC: callGrpc, 'gRPC-Web': callGrpcWeb, Connect: callConnect };
  describe.each(Object.entries(protocols))('over %s is refused', (_protocol, call) => {
    it.each(BAD_MESSAGES)('$name', async ({ rpc, bytes, refusal }) => {
      const request = typeof bytes === 'function' ? bytes() : bytes;
      const { code, violations } = await call(service.url, `/enforcement.v1.${rpc}`, request);
      expect(code).toBe(refusal.grpc.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase());
      expect(violations.map((violation) => violation.join(' '))).toEqual(
        refusal.fields?.map((text) => text.replace(/\S+$/, (reason) => reason.toUpperCase())),
      );
      await expectHealthy();
    });
  });

  describe('below the messages of an RPC is refused', () => {
    it.each(TRANSPORT_CASES)('$protocol: $name', async (given) => {
      const { protocol, method = 'POST', path, headers = {}, code } = given;
      const body = typeof given.body === 'function' ? given.body() : given.body;
      const outcome = await CALLS[protocol](service.url, { method, path, headers, body });
      expect(outcome).toMatchObject({ code, replies: [] });
      await expectHealthy();
    });
  });

  const streams = { gRPC: callGrpcRaw, Connect: callConnectStreamRaw };
  describe.each(Object.entries(streams))('in a stream over %s is refused', (_protocol, call) => {
    it.each(STREAM_CASES)('$name', async ({ rest, replies, code }) => {
      const outcome = await call(service.url, {
        path: '/enforcement.v1.EvaluationService/EvaluateStream',
        body: GOOD,
        afterAnswer: typeof rest === 'function' ? rest() : rest,
      });
      expect(outcome.code).toBe(code);
      expect(sorted(outcome.replies.map(streamReply))).toEqual(sorted(replies));
      await expectHealthy();
    });
  });

  describe('as bytes is refused', () => {
    it.each(RAW_CASES)('$name', async ({ statuses, ...request }) => {
      const reply = await sendRaw(service.url, request);
      expect(reply.statuses).toEqual(statuses);
      await expectHealthy();
    });
  });

  describe('that is unusual but legal is served:', () => {
    it.each(ODD_READS)('$name', async ({ reply, ...request }) => {
      expect(await rest(request)).toMatchObject({ status: 200, body: reply });
    });
    it.each(ODD_CHANGES)('$name', async ({ reply, ...request }) => {
      expect(await rest(request)).toMatchObject({ status: 200, body: reply });
    });

    it('keys like built-in members in free-form objects', async () => {
      const { body } = await rest({ method: 'GET', path: `/agents/${ODD_AGENT}` });
      expect(Object.entries(body.agent.agent_metadata)).toEqual(ODD_METADATA);
    });

    it('unusual texts over gRPC, half a surrogate pair in the form Unicode has for it', async () => {
      const request = message(GetAgentRequestSchema, { agentName: ODD_AGENT });
      const outcome = await callGrpc(service.url, '/enforcement.v1.AgentService/GetAgent', request);
      const { agent } = onlyReply(GetAgentResponseSchema, outcome);
      expect(agent?.agentDescription).toBe(UNUSUAL_TEXT.replace(LONE_SURROGATE, '\ufffd'));
    });
  });

  describe('in a step that is unusual but legal is evaluated:', () => {
    beforeAll(async () => {
      await rest({
        method: 'POST',
        path: '/agents/initAgent',
        headers: JSON_TYPE,
        body: { agent: { agent_name: ODD_STEPS_AGENT } },
      });
      for (const [name, condition] of Object.entries(ODD_CONTROLS)) {
        const control = { name, data: conditioned(condition) };
        const created = await rest({ method: 'PUT', path: '/controls', headers: JSON_TYPE, body: control });
        const link = `/agents/${ODD_STEPS_AGENT}/controls/${created.body.control_id}`;
        expect(await rest({ method: 'POST', path: link })).toMatchObject({ status: 200 });
      }
    });

    it.each(ODD_STEPS)('$name over REST', async ({ step, matches }) => {
      const text = typeof step === 'function' ? step() : step;
      const body = `{"agent_name":"${ODD_STEPS_AGENT}","stage":"pre","step":${text}}`;
      const reply = await rest({ method: 'POST', path: '/evaluation', headers: JSON_TYPE, body });
      const matched = reply.body.matches.map((match: { control_name: string }) => match.control_name);
      expect({ ...reply.body, matches: sorted(matched) }).toMatchObject({
        is_safe: matches.length === 0,
        matches: sorted(matches.map((name) => `sees-${name}`)),
        errors: [],
      });
    });

    async function expectVerdict(request: Buffer, matches: readonly string[]): Promise<void> {
      const addressed = Buffer.concat([request, wire.bytes(1, ODD_STEPS_AGENT)]);
      const outcome = await callGrpc(service.url, '/enforcement.v1.EvaluationService/Evaluate', addressed);
      const verdict = onlyReply(EvaluateResponseSchema, outcome);
      expect(verdict).toMatchObject({ isSafe: matches.length === 0, errors: [] });
      expect(sorted(verdict.matches.map((match) => match.controlName))).toEqual(
        sorted(matches.map((name) => `sees-${name}`)),
      );
    }

    it.each(ODD_STEPS)('$name over gRPC', ({ step, matches }) =>
      expectVerdict(stepJson(typeof step === 'function' ? step() : step), matches),
    );

    it.each(ODD_MESSAGES)('$name as a message', ({ bytes, matches }) =>
      expectVerdict(typeof bytes === 'function' ? bytes() : bytes, matches),
    );
  });

  describe('leaves behind', () => {
    it('no row of what was refused', async () => {
      const agents = await rest({ method: 'GET', path: '/agents?limit=100' });
      const names = agents.body.agents.map((agent: { agent_name: string }) => agent.agent_name);
      expect(sorted(names)).toEqual(sorted([AGENT, ODD_AGENT, ODD_STEPS_AGENT]));
      const controls = await rest({ method: 'GET', path: '/controls?limit=100' });
      const controlNames = controls.body.controls.map((control: { name: string }) => control.name);
      expect(sorted(controlNames)).toEqual(sorted([CONTROL, ODD_CONTROL, ...Object.keys(ODD_CONTROLS)]));
    });

    it('the agent and the control that were there before as they were', async () => {
      const agent = await rest({ method: 'GET', path: `/agents/${AGENT}` });
      expect(agent.body).toMatchObject({ agent: { agent_name: AGENT }, steps: [], evaluators: [] });
      const controls = await rest({ method: 'GET', path: `/agents/${AGENT}/controls` });
      expect(controls.body).toMatchObject({
        controls: [{ id: CONTROL_ID, name: CONTROL, control: DEFINITION }],
      });
    });

    it('no error in the log', () => {
      expect(errorLines(service.logLines).join('\n')).toBe('');
    });
  });
});
