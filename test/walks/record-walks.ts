import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { restClient } from '../support/http.js';
import { denyWord, seeder } from '../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnCommand } from '../support/service-process.js';
import { type Calls, type Counts, takeCalls } from './coverage.js';
import { type Evaluation, FRAMINGS, type FramingName } from './framings.js';

/** Evaluations of one recording. */
const EVALUATIONS = 10;
/** Recordings after which their differences are no matter of the load. */
const MAX_RECORDINGS = 12;

/** The files of the service that each evaluation passes, by framing. */
export type Walks = Readonly<Record<FramingName, ReadonlySet<string>>>;

/** Starts the service with keys, an agent and a control, and records evaluations in every framing. */
export async function recordWalks(compiled: CompiledService): Promise<Walks> {
  const directory = await mkdtemp(path.join(tmpdir(), 'walks-'));
  const socket = path.join(directory, 'coverage.sock');
  const key = randomUUID();
  const preload = path.join(import.meta.dirname, 'preload.mjs');
  const environment = {
    COVERAGE_SOCKET: socket,
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_ADMIN_API_KEYS: key,
  };
  const words = ['--import', preload, compiled.main];
  const service = spawnCommand(process.execPath, words, environment, directory);
  try {
    const evaluation = await seeded(service, key);
    const take = () => takeCalls(socket, path.resolve(compiled.main, '../..'));
    const walks = {} as Record<FramingName, ReadonlySet<string>>;
    for (const name of Object.keys(FRAMINGS) as FramingName[]) {
      walks[name] = await recorded(() => FRAMINGS[name](evaluation), take);
    }
    return walks;
  } finally {
    await service.dispose();
    await rm(directory, { recursive: true, force: true });
  }
}

async function seeded(service: ServiceProcess, key: string): Promise<Evaluation> {
  const url = await service.listening();
  const seed = seeder(restClient(url, { 'x-api-key': key }));
  const agentName = 'walking-agent';
  await seed.linked(agentName, 'no-bad-words', denyWord('bad'));
  return { url, agentName, key, step: { type: 'llm', name: 'answer', input: 'a bad word' } };
}

/**
 * The files of what the evaluations call. Many evaluations are made at a time, and what an idle service calls in the same
 * time is subtracted, which tells their work from that of timers and batches. Two recordings must agree.
 */
async function recorded(evaluate: () => Promise<void>, take: () => Promise<Calls>): Promise<Set<string>> {
  let before: string | undefined;
  for (let recordings = 0; recordings < MAX_RECORDINGS; recordings += 1) {
    const started = performance.now();
    await take();
    for (let count = 0; count < EVALUATIONS; count += 1) await evaluate();
    const calls = await take();
    await setTimeout(performance.now() - started);
    const idle = await take();
    const files = [...calls]
      .filter(([file, functions]) => isPassed(functions, idle.get(file)))
      .map(([file]) => file);
    const now = files.sort().join('\n');
    if (now === before) return new Set(files);
    // The first recording warms up: programs are compiled, keys are verified.
    before = recordings === 0 ? undefined : now;
  }
  throw new Error(`${MAX_RECORDINGS} recordings differ`);
}

/** Counts waver a little: what timers do in two times of the same length differs. */
function isPassed(functions: Counts, idle: Counts | undefined): boolean {
  return [...functions].some(([name, count]) => count - (idle?.get(name) ?? 0) > EVALUATIONS / 2);
}
