import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';

let service: ServiceProcess;
let url: string;
beforeAll(async () => {
  service = await spawnService(compiled);
  url = await service.listening();
});
afterAll(() => service.dispose());

async function post(path: string, json: string): Promise<string> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
  });
  expect(reply.status).toBe(200);
  return reply.text();
}

it('a member named __proto__ is data over every protocol, whatever libraries do with it', async () => {
  const metadata = '{"__proto__":{"x":1},"a":"b"}';
  await post(
    '/enforcement.v1.AgentService/InitAgent',
    `{"agent":{"agentName":"proto-agent-01","agentMetadata":${metadata}}}`,
  );
  const rest = await fetch(`${url}/api/v1/agents/proto-agent-01`);
  expect(await rest.text()).toContain(`"agent_metadata":${metadata}`);
  expect(await post('/enforcement.v1.AgentService/GetAgent', '{"agentName":"proto-agent-01"}')).toContain(
    '"__proto__":{"x":1}',
  );
});
