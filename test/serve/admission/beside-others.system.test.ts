import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exchange } from '../../support/http.js';
import { compileService, type ServiceProcess, spawnService } from '../../support/service-process.js';

/** Programs that never pause, on a machine with two processors. */
const OTHERS = 6;
const CALLS = 16;
const EVALUATION = JSON.stringify({
  agent_name: 'lone-agent-0001',
  stage: 'pre',
  step: { type: 'tool', name: 'x', input: { a: 1 } },
});
const JSON_HEADERS = { 'content-type': 'application/json' };

let service: ServiceProcess;
const others = Array.from({ length: OTHERS }, () =>
  spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }),
);
beforeAll(async () => {
  // The limit is the default one: services of tests have none.
  service = await spawnService(await compileService(), {
    environment: { SERVICE_SHED_EVENT_LOOP_DELAY_MS: '1000' },
  });
}, 600_000);
afterAll(async () => {
  for (const other of others) other.kill('SIGKILL');
  await service.dispose();
});

it('a lone caller, pages and a login are answered while other programs keep the machine busy', async () => {
  const url = await service.listening();
  const statuses = new Map<string, number>();
  const call = async (
    path: string,
    more: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => {
    const { status } = await exchange(url, { path, ...more });
    statuses.set(`${path} ${status}`, (statuses.get(`${path} ${status}`) ?? 0) + 1);
  };
  const post = (body: string) => ({ method: 'POST', headers: JSON_HEADERS, body });
  // The first calls come while the process warms up.
  for (let number = 0; number < CALLS; number += 1) {
    await call('/api/v1/evaluation', post(EVALUATION));
    if (number % 4 === 0) await Promise.all([call('/ui/'), call('/openapi.json'), call('/api/v1/controls')]);
  }
  const pages = CALLS / 4;
  expect(Object.fromEntries(statuses)).toEqual({
    '/api/v1/evaluation 404': CALLS,
    '/ui/ 200': pages,
    '/openapi.json 200': pages,
    '/api/v1/controls 200': pages,
  });
}, 600_000);
