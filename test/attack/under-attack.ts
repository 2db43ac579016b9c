import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, seeder } from '../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../support/service-process.js';
import { AGENT, type Attack, EVALUATION, KEYS } from './attacks.js';

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
  /** The sum of the samples of a metric, read on the operations port. */
  sample(name: string, labels?: Record<string, string>): Promise<number>;
  residentMib(): number;
  dispose(): Promise<void>;
}

const script = (name: string) => path.join(import.meta.dirname, name);

/** `controls` are linked to the agent whose steps are evaluated. */
export async function startAttacked(compiled: CompiledService, controls = 10): Promise<AttackedService> {
  const service = await spawnService(compiled, {
    environment: {
      SERVICE_LOG_JSON: 'true',
      SERVICE_OPERATIONS_PORT: '0',
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: `${KEYS.victim},${KEYS.attacker}`,
      SERVICE_ADMIN_API_KEYS: KEYS.admin,
    },
  });
  const url = await service.listening();
  const [, operations = ''] = await service.output(/"operations":"(http:\/\/[^"]+)"/);
  const seed = seeder(restClient(url, { 'x-api-key': KEYS.admin }));
  await seed.agent(AGENT);
  for (let index = 0; index < controls; index += 1)
    await seed.link(AGENT, await seed.control(`no-bad-${index}`, denyWord(`bad${index}`)));
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
