import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, seeder } from '../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../support/service-process.js';
import { AGENT, type Attack, EVALUATION, KEYS, WATCHED } from './attacks.js';

/** How long some calls took, in milliseconds. The call that is under way counts with the time it has taken so far. */
export interface Latency {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What the victim saw since it was asked last: on one connection, and on a new one for each call. */
export interface VictimReport {
  readonly kept: Latency;
  readonly fresh: Latency;
  /** Calls that did not succeed, by status. */
  readonly failures: Readonly<Record<string, number>>;
}

/** What an attacker did. */
export interface AttackReport {
  readonly connections: number;
  readonly requests: number;
}

/** A service in a process of its own, and a client of it that does nothing wrong in another. */
export interface AttackedService {
  readonly url: string;
  readonly service: ServiceProcess;
  victim(): Promise<VictimReport>;
  /** Runs an attack in a process of its own until its time is over. */
  attack(attack: Attack, seconds: number): Promise<AttackReport>;
  /** Changes a control of the watched agent. */
  change(): Promise<void>;
  /** The sum of the samples of a metric, read on the operations port. */
  sample(name: string, labels?: Record<string, string>): Promise<number>;
  residentMib(): number;
  dispose(): Promise<void>;
}

/** Together they take some 400 KB. */
const WATCHED_CONTROLS = 3;

/** A control of about 130 KB. */
function largeList(number: number): object {
  const values = Array.from(
    { length: 1_500 },
    (_, index) => `a phrase of the list ${number} that is not to be said, not even once: number ${index}`,
  );
  return {
    execution: 'server',
    condition: { selector: { path: 'input' }, evaluator: { name: 'list', config: { values } } },
    action: { decision: 'deny' },
  };
}

const script = (name: string) => path.join(import.meta.dirname, name);

/** `controls` are linked to the agent whose steps are evaluated; `environment` is added to that of the service. */
export async function startAttacked(
  compiled: CompiledService,
  controls = 10,
  environment: Record<string, string> = {},
): Promise<AttackedService> {
  const service = await spawnService(compiled, {
    environment: {
      SERVICE_LOG_JSON: 'true',
      SERVICE_OPERATIONS_PORT: '0',
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: `${KEYS.victim},${KEYS.attacker}`,
      SERVICE_ADMIN_API_KEYS: KEYS.admin,
      ...environment,
    },
  });
  const url = await service.listening();
  const [, operations = ''] = await service.output(/"operations":"(http:\/\/[^"]+)"/);
  const admin = restClient(url, { 'x-api-key': KEYS.admin });
  const seed = seeder(admin);
  await seed.agent(AGENT);
  for (let index = 0; index < controls; index += 1)
    await seed.link(AGENT, await seed.control(`no-bad-${index}`, denyWord(`bad${index}`)));
  await seed.agent(WATCHED);
  let changed = 0;
  for (let index = 1; index < WATCHED_CONTROLS; index += 1)
    await seed.link(WATCHED, await seed.control(`watched-${index}`, largeList(index)));
  const changing = await seed.control('watched-and-changed', largeList(changed));
  await seed.link(WATCHED, changing);
  const victim = fork(script('victim.mjs'), [url, KEYS.victim, EVALUATION]);
  const attackers = new Set<ChildProcess>();
  return {
    url,
    service,
    async victim() {
      victim.send('report');
      return (await once(victim, 'message'))[0] as VictimReport;
    },
    async attack({ kind, options }, seconds) {
      const attacker = fork(script('attacker.mjs'), [url, kind, String(seconds), JSON.stringify(options)]);
      attackers.add(attacker);
      const [report] = await once(attacker, 'message');
      attackers.delete(attacker);
      return report as AttackReport;
    },
    async change() {
      changed += 1;
      const data = largeList(WATCHED_CONTROLS + changed);
      const reply = await admin('PUT', `/api/v1/controls/${changing}/data`, { data });
      if (reply.status !== 200) throw new Error(`a change: ${reply.status} ${JSON.stringify(reply.body)}`);
    },
    async sample(name, labels = {}) {
      const response = await fetch(`${operations}/metrics`);
      const text = await response.text();
      if (!response.ok) throw new Error(`GET /metrics on the operations port: ${response.status} ${text}`);
      return metric(parseMetrics(text), `control_enforcement_server_${name}`, labels);
    },
    residentMib() {
      const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    },
    async dispose() {
      victim.kill();
      for (const attacker of attackers) attacker.kill('SIGKILL');
      await service.dispose();
    },
  };
}
