/** The service as a server of a benchmark: with its default settings, and an agent for each number of controls. */
import { createCaller } from '../../scripts/demo-data/load.mjs';
import { startServiceProcess } from '../../scripts/start-service.mjs';
import { agentOf, CONTROLS, controlData } from './grpc-messages.mjs';
import { metricOf } from './service-metrics.mjs';

/**
 * A server that is measured.
 * @typedef {{ url: string, cpuSeconds: () => Promise<number>, stop: () => Promise<void> }} MeasuredServer
 */

/**
 * @param {Record<string, string>} environment
 * @param {readonly number[]} counts
 * @returns {Promise<MeasuredServer>}
 */
export async function startService(environment, counts = CONTROLS) {
  const { url, stop } = await startServiceProcess(environment);
  await seed(url, counts);
  return {
    url,
    stop,
    cpuSeconds: () => metricOf(url, 'process_cpu_seconds_total'),
  };
}

/** @param {string} url @param {readonly number[]} counts */
async function seed(url, counts) {
  const call = createCaller(url, undefined);
  const ids = [];
  for (let index = 0; index < Math.max(...counts); index += 1) {
    const control = { name: `bench-control-${index}`, data: controlData(index) };
    ids.push((await call('PUT', '/controls', control)).control_id);
  }
  for (const controls of counts) {
    await call('POST', '/agents/initAgent', { agent: { agent_name: agentOf(controls) } });
    for (const id of ids.slice(0, controls))
      await call('POST', `/agents/${agentOf(controls)}/controls/${id}`);
  }
}
