import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { grpcJsClient } from '../support/grpc-js-client.js';
import { restClient } from '../support/http.js';
import { LARGE_VALUES, seedLargeControls } from '../support/large-controls.js';
import { seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The system's own Python comes second: `python3` may be another one. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import grpc, google.protobuf']).status === 0,
);

const AGENT = 'agent-with-large-lists';
const CONTROLS = 34;
/** What clients accept by default. */
const USUAL_LIMIT = 4 * 1024 * 1024;

// On one database: what is sent does not depend on it, see watch-controls.test.ts.
describe('WatchControls of an agent with 50 MB of controls', () => {
  let service: ServiceProcess;
  let url: string;
  let address: { host: string; port: number };
  let seed: ReturnType<typeof seeder>;
  let ids: number[];
  /** A client from the beginning to the end, so that the controls are loaded once. */
  const keeper = new AbortController();
  beforeAll(async () => {
    service = await spawnService(compiled);
    url = await service.listening();
    const { hostname, port } = new URL(url);
    address = { host: hostname, port: Number(port) };
    seed = seeder(restClient(url));
    ids = await seedLargeControls(seed, AGENT, CONTROLS);
    const messages = createClient(AgentService, createGrpcTransport({ baseUrl: url }))
      .watchControls({ agentName: AGENT }, { signal: keeper.signal })
      [Symbol.asyncIterator]();
    for (;;) {
      const { value } = await messages.next();
      if (value?.incomplete === false) break;
    }
  });
  afterAll(async () => {
    keeper.abort();
    await service?.dispose();
  });

  it('sends them all to grpc-js with its usual limit, and then the changes', async () => {
    const client = grpcJsClient(address, 'enforcement/v1/agent_service.proto', 'enforcement.v1.AgentService');
    const stream = client.WatchControls?.({ agent_name: AGENT }) as NodeJS.ReadableStream & {
      cancel(): void;
    };
    const held = new Map<number, number>();
    const messages: { kind: string; incomplete: boolean; revision: number }[] = [];
    let failure: Error | undefined;
    stream.on('error', (error) => (failure = error));
    stream.on('data', (message) => {
      messages.push({
        kind: message.news,
        incomplete: message.incomplete,
        revision: Number(message.revision),
      });
      for (const { id, control } of message.full?.controls ?? message.changed?.upserted ?? [])
        held.set(id, control.condition.evaluator.config.fields.values.listValue.values.length);
      for (const id of message.changed?.removed ?? []) held.delete(id);
    });
    const complete = () =>
      until(
        () => failure ?? messages.at(-1),
        (last) => last instanceof Error || last?.incomplete === false,
      );
    await complete();
    expect(failure).toBeUndefined();
    expect([...held.keys()]).toEqual(ids);
    expect(new Set(held.values())).toEqual(new Set([LARGE_VALUES]));
    expect(messages.map(({ kind }) => kind)).toEqual(['full', ...Array(CONTROLS - 1).fill('changed')]);
    expect(messages.slice(0, -1).every(({ incomplete, revision }) => incomplete && revision === 0)).toBe(
      true,
    );

    const before = messages.length;
    await restClient(url)('DELETE', `/api/v1/agents/${AGENT}/controls/${ids[0]}`);
    await until(
      () => messages.length,
      (count) => count > before,
    );
    expect(held.has(ids[0] ?? 0)).toBe(false);
    await seed.link(AGENT, ids[0] ?? 0);
    await until(
      () => held.size,
      (size) => size === CONTROLS,
    );
    stream.cancel();
    client.close();
  });

  it.skipIf(PYTHON === undefined)('sends them all to Python with its usual limit', async () => {
    const descriptors = path.join(service.directory, 'api.binpb');
    spawnSync(path.join(ROOT, 'node_modules/.bin/buf'), ['build', '-o', descriptors], { cwd: ROOT });
    const script = path.join(import.meta.dirname, 'python/watch.py');
    const client = spawn(PYTHON ?? '', [script, `${address.host}:${address.port}`, descriptors, AGENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const chunk of client.stdout) text += chunk;
    expect(JSON.parse(text)).toEqual({ ids, values: [LARGE_VALUES], messages: CONTROLS });
  });

  it.each(['gRPC', 'gRPC-Web'])('sends them all over %s with a limit of 4 MiB', async (protocol) => {
    const options = { baseUrl: url, readMaxBytes: USUAL_LIMIT, httpVersion: '2' as const };
    const transport = protocol === 'gRPC' ? createGrpcTransport(options) : createGrpcWebTransport(options);
    const seen: number[] = [];
    for await (const { news, incomplete } of createClient(AgentService, transport).watchControls({
      agentName: AGENT,
    })) {
      if (news.case === 'full') seen.push(...news.value.controls.map(({ id }) => id));
      if (news.case === 'changed') seen.push(...news.value.upserted.map(({ id }) => id));
      if (!incomplete) break;
    }
    expect(seen).toEqual(ids);
  });

  it('sends the rest to a client that was interrupted, not less', async () => {
    const client = createClient(
      AgentService,
      createGrpcTransport({ baseUrl: url, readMaxBytes: USUAL_LIMIT }),
    );
    let revision = -1n;
    for await (const message of client.watchControls({ agentName: AGENT })) {
      revision = message.revision;
      break;
    }
    const kinds: unknown[] = [];
    for await (const { news, incomplete } of client.watchControls({
      agentName: AGENT,
      fromRevision: revision,
    })) {
      kinds.push(news.case);
      if (!incomplete) break;
    }
    expect(kinds).toEqual(['full', ...Array(CONTROLS - 1).fill('changed')]);
  });

  it('sends them in one message to a client that can receive it, and refuses a limit that is too low', async () => {
    const client = createClient(AgentService, createGrpcTransport({ baseUrl: url }));
    const few = client.watchControls({ agentName: AGENT, maxMessageBytes: 65_535 });
    const refused = await (async () => {
      for await (const _message of few);
    })().catch((error: unknown) => ConnectError.from(error));
    expect(refused).toMatchObject({
      code: Code.InvalidArgument,
      message: expect.stringContaining('max_message_bytes'),
    });
  });
});
