import { verifyPart } from '../../../src/observe/audit/verify-chain.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { storeOf } from '../../observe/audit/audit.support.js';
import { Random } from '../../serve/wire/random.js';
import { type RestClient, restClient } from '../../support/http.js';
import { type CompiledService, spawnService } from '../../support/service-process.js';
import { applier, control, type Document, documentsOf, exported } from './documents.support.js';

/** What the runs found. The last three have to be empty. */
export interface ApplyKillReport {
  readonly kills: number;
  /** Applications that were answered, and those that were stored without an answer. */
  readonly acknowledged: number;
  readonly unanswered: number;
  /** Runs after which the stored objects were none of the two sets. */
  readonly torn: string[];
  /** Runs after which the set that was acknowledged was lost, or could not be applied again without a change. */
  readonly wrong: string[];
  /** Why the chain of the audit log is broken. */
  readonly problems: string[];
}

export interface ApplyKillOptions {
  readonly compiled: CompiledService;
  /** A database without data. */
  readonly url: string;
  readonly kills: number;
  readonly seed: number;
  /** Controls of each set. */
  readonly controls: number;
}

/** Kills the service again and again in the middle of applying one of two sets after the other, and looks at what is stored. */
export async function applyKillRuns(options: ApplyKillOptions): Promise<ApplyKillReport> {
  const { compiled, url, kills, seed, controls } = options;
  const random = new Random(seed);
  const sets = [setOf('left', controls), setOf('right', controls)];
  const names = sets.map((set) => namesOf(set));
  const report = { acknowledged: 0, unanswered: 0, torn: [] as string[], wrong: [] as string[] };
  // Index of the set that is stored; -1 before the first one.
  let stored = -1;
  let usualMs = 50;

  const send = (call: RestClient, at: number) => applier(call)(sets[at] ?? [], { prune: true });

  /** Looks at what the run before has left. */
  async function inspect(call: RestClient, run: number, acknowledged: number): Promise<void> {
    const found = namesOf(documentsOf(await exported(call)));
    stored = names.indexOf(found);
    const other = acknowledged < 0 ? 0 : 1 - acknowledged;
    if (stored < 0 && !(found === '' && acknowledged < 0))
      report.torn.push(`run ${run}: ${found.slice(0, 200)}`);
    else if (stored !== acknowledged && stored !== other) report.wrong.push(`run ${run}: lost`);
    if (stored >= 0 && stored !== acknowledged) report.unanswered += 1;
    if (stored < 0) return;
    const { status, body } = await send(call, stored);
    if (status !== 200 || body.applied) report.wrong.push(`run ${run}: ${status} ${body.error_code}`);
  }

  let acknowledged = -1;
  for (let run = 0; run <= kills; run += 1) {
    const service = await spawnService(compiled, { environment: { DATABASE_URL: url } });
    try {
      const call = restClient(await service.listening());
      if (run > 0) await inspect(call, run, acknowledged);
      acknowledged = stored;
      if (run === kills) break;
      const before = random.below(3);
      for (let count = 0; ; count += 1) {
        const next = acknowledged === 0 ? 1 : 0;
        const began = performance.now();
        const timer =
          count < before
            ? undefined
            : setTimeout(() => service.process.kill('SIGKILL'), random.below(Math.ceil(usualMs) + 1));
        const reply = await send(call, next).catch(() => null);
        if (reply?.status === 200) {
          acknowledged = next;
          report.acknowledged += 1;
          usualMs = performance.now() - began;
        }
        if (timer !== undefined) break;
      }
      await service.ended;
    } finally {
      await service.dispose();
    }
  }
  return { kills, ...report, problems: await chainProblems(url) };
}

/** Controls of which each set has half by itself, and half in another version, with policies and links. */
function setOf(word: string, controls: number): Document[] {
  const names = Array.from({ length: controls }, (_, at) =>
    at % 2 === 0 ? `shared-${at}` : `${word}-${at}`,
  );
  return [
    ...names.map((name) => control(name, `${word} ${name}`)),
    { kind: 'Policy', name: 'of-both', controls: names.slice(0, controls / 2) },
    { kind: 'Policy', name: `of-${word}`, controls: names },
    { kind: 'AgentLinks', name: 'agent-of-kills-1', controls: names.slice(0, 2), policies: [`of-${word}`] },
  ];
}

/** All names and patterns of a set, as one text. */
function namesOf(documents: readonly Document[]): string {
  const texts = documents.map(({ kind, name, data, controls, policies }) => {
    const lists = [controls, policies].map((list) => (Array.isArray(list) ? [...list].sort() : []));
    return `${kind}/${name} ${/"pattern":"([^"]*)"/.exec(JSON.stringify(data ?? {}))?.[1] ?? ''} ${lists.join(';')}`;
  });
  return texts.sort().join('\n');
}

async function chainProblems(url: string): Promise<string[]> {
  const database = await openDatabase({ url });
  try {
    const store = storeOf(database);
    const problems: string[] = [];
    for (let after: number | undefined; ; ) {
      const part = await verifyPart(store, after);
      if (part.problem !== null) problems.push(part.problem.message);
      if (!part.hasMore) return problems;
      after = part.last.position;
    }
  } finally {
    await database.close();
  }
}
