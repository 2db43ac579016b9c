import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { openedInTest } from '../../support/opened.js';
import { seeder } from '../../support/seed.js';
import {
  compiled,
  type ServiceProcess,
  signalGroup,
  spawnCommand,
  spawnService,
} from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { request } from './support/connections.js';
import { CLEAN_END, MOMENTS, type Moment, stopGroup } from './support/group-stop.js';
import { openEvaluation } from './support/open-evaluation.js';

const AGENT = 'stopped-agent';
const EVALUATION = { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'n', input: 'x' } };

const services = openedInTest<ServiceProcess>((one) => one.dispose());

describe('all processes of a service that receive a stop signal at once end with 0', () => {
  it.each(Object.keys(MOMENTS) as Moment[])('%s', async (moment) => {
    expect(await stopGroup({ compiled, moment, signals: ['SIGINT'] })).toEqual(CLEAN_END);
  });

  // Every moment with every pair is in test/long/ctrl-c.long.ts.
  it.each(['while it serves', 'while its workers are started'] as const)('%s, by two', async (moment) => {
    expect(await stopGroup({ compiled, moment, signals: ['SIGTERM', 'SIGINT'] })).toEqual(CLEAN_END);
  });
});

/** Waits until a service takes no more connections: it has been told to stop. */
const refused = (url: string) =>
  until(
    () => request(url, 'GET', '/ready').catch((error) => error.code),
    (code) => code === 'ECONNREFUSED',
  );

describe.each(['1', '2'])('a service of %s process(es)', (workers) => {
  const environment = { SERVICE_WORKERS: workers, SERVICE_LOG_JSON: 'true', SERVICE_DRAIN_SECONDS: '600' };

  it('ends with 0 when it receives a stop signal before it is ready', async () => {
    const service = await spawnService(compiled, { environment, ownGroup: true });
    services.push(service);
    await service.output(/./);
    signalGroup(service.process, 'SIGINT');
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.stderr()).toBe('');
    expect(service.stdout()).not.toMatch(/"level":[56]0|ready for REST/);
  });

  it('finishes its requests when two signals come at once', async () => {
    const service = await spawnService(compiled, { environment, ownGroup: true });
    services.push(service);
    const url = await service.listening();
    await seeder(restClient(url)).agent(AGENT);
    const finish = await openEvaluation(url, EVALUATION);
    signalGroup(service.process, 'SIGINT');
    signalGroup(service.process, 'SIGTERM');
    await refused(url);
    expect(await finish()).toBe(200);
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('finishes its requests after Ctrl-C under npm start, which signals it twice', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'npm-start-'));
    const scripts = { start: `exec node ${compiled.main}` };
    await writeFile(path.join(directory, 'package.json'), JSON.stringify({ name: 'started', scripts }));
    const { PATH = '' } = process.env;
    const home = { PATH, HOME: directory, npm_config_update_notifier: 'false' };
    const service = spawnCommand('npm', ['start'], { ...environment, ...home }, directory, true);
    services.push(service);
    const url = await service.listening();
    await seeder(restClient(url)).agent(AGENT);
    const finish = await openEvaluation(url, EVALUATION);
    signalGroup(service.process, 'SIGINT');
    await refused(url);
    expect(await finish()).toBe(200);
    await service.ended;
    expect(service.stdout()).toMatch(/"msg":"stopped"/);
    expect(service.stdout()).not.toMatch(
      /"level":[456]0(?!.*(?:API keys are off|created a new|without enabled controls))/,
    );
  });
});
