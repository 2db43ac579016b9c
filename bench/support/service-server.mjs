/** The service as a server of a benchmark: with its default settings, and an agent for each number of controls. */
import { startServiceProcess } from '../../scripts/start-service.mjs';
import { agentOf, CONTROLS, controlData } from './grpc-messages.mjs';

export async function startService(environment) {
  const { url, stop } = await startServiceProcess(environment);
  await seed(url);
  return {
    url,
    stop,
    async cpuSeconds() {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/_process_cpu_seconds_total(?:\{[^}]*\})? ([\d.e+-]+)/.exec(text)?.[1]);
    },
  };
}

async function seed(url) {
  const call = async (method, path, body) => {
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const ids = [];
  for (let index = 0; index < Math.max(...CONTROLS); index += 1) {
    const control = { name: `bench-control-${index}`, data: controlData(index) };
    ids.push((await call('PUT', '/controls', control)).control_id);
  }
  for (const controls of CONTROLS) {
    await call('POST', '/agents/initAgent', { agent: { agent_name: agentOf(controls) } });
    for (const id of ids.slice(0, controls))
      await call('POST', `/agents/${agentOf(controls)}/controls/${id}`);
  }
}
