/**
 * Starts the service with demonstration data and agents that take steps, prints the address of its dashboard, and runs
 * until it is stopped. The data is in a temporary folder, which is removed at the end.
 *
 * Settings of the service are taken from the environment, for example PORT or SERVICE_API_KEY_ENABLED with
 * SERVICE_ADMIN_API_KEYS.
 */
import { createCaller, loadDefinitions, loadHistory, takeSteps } from './demo-data/load.mjs';
import { startServiceProcess } from './start-service.mjs';

const HISTORY = { days: 14, count: 20_000 };
const STEPS_PER_SECOND = 4;

const service = await startServiceProcess({
  SERVICE_PORT: process.env.PORT ?? '8000',
  SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.5',
});
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
const [apiKey] = (process.env.SERVICE_ADMIN_API_KEYS ?? '').split(',').filter((key) => key !== '');
const call = createCaller(service.url, apiKey);
try {
  await loadDefinitions(call);
  await loadHistory(call, { ...HISTORY, now: Date.now() });
  console.log(
    `\nThe dashboard: ${service.url}/ui/\nAgents take ${STEPS_PER_SECOND} steps a second. Ctrl+C ends it.\n`,
  );
  await takeSteps(call, { stepsPerSecond: STEPS_PER_SECOND, signal: stop.signal });
} catch (error) {
  // Ctrl+C ends the service as well, whatever it is asked then.
  if (!stop.signal.aborted) throw error;
} finally {
  await service.stop();
}
