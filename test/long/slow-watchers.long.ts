import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentService, WatchControlsRequestSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { restClient } from '../support/http.js';
import { seedLargeControls } from '../support/large-controls.js';
import { seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

const AGENT = 'agent-with-large-lists';
const CONTROLS = 34;
const CLIENTS = 60;
const TIMEOUT_MS = 600_000;
/** What one client that reads nothing may hold: the message that it does not take, and its copies on the way. */
const MOST_MIB_EACH = 12;

describe(`${CLIENTS} clients that read nothing of 50 MB of controls`, () => {
  let service: ServiceProcess;
  let url: string;
  beforeAll(async () => {
    service = await spawnService(compiled);
    url = await service.listening();
    await seedLargeControls(seeder(restClient(url)), AGENT, CONTROLS);
  }, TIMEOUT_MS);
  afterAll(() => service?.dispose());

  const residentMib = () => {
    const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };
  const client = () => createClient(AgentService, createGrpcTransport({ baseUrl: url }));
  const readAll = async () => {
    for await (const { incomplete } of client().watchControls({ agentName: AGENT })) if (!incomplete) break;
  };

  it(
    'hold a message each, not the controls, and others are served',
    async () => {
      await readAll();
      const before = residentMib();
      const message = toBinary(
        WatchControlsRequestSchema,
        create(WatchControlsRequestSchema, { agentName: AGENT }),
      );
      const body = Buffer.concat([Buffer.alloc(5), message]);
      body.writeUInt32BE(message.length, 1);
      const sessions = Array.from({ length: CLIENTS }, () => connect(url));
      let begun = 0;
      for (const session of sessions) {
        session.on('error', () => {});
        const stream = session.request({
          ':method': 'POST',
          ':path': '/enforcement.v1.AgentService/WatchControls',
          'content-type': 'application/grpc',
          te: 'trailers',
        });
        stream.on('error', () => {});
        stream.on('response', () => (begun += 1));
        stream.end(body);
        stream.pause();
      }
      await until(
        () => begun,
        (count) => count === CLIENTS,
      );
      let most = 0;
      for (let reading = 0; reading < 3; reading += 1) {
        await readAll();
        most = Math.max(most, residentMib());
      }
      for (const session of sessions) session.destroy();
      console.log(`${CLIENTS} clients: memory ${before.toFixed(0)} MiB, +${(most - before).toFixed(0)} MiB`);
      expect(most - before).toBeLessThan(CLIENTS * MOST_MIB_EACH);
      await readAll();
    },
    TIMEOUT_MS,
  );
});
