import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../../src/storage/database/database.js';
import type { RemovableDatabase } from '../../e2e/last-known-good.support.js';
import { Random } from '../../serve/wire/random.js';
import { type RestClient, restClient } from '../../support/http.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import { type CompiledService, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';
import { stateOf } from './support.js';

/** What the runs found; everything but the first three has to be 0. */
export interface KillReport {
  readonly kills: number;
  /** Revisions at which the file was found. */
  readonly revisions: number;
  /** Starts without the database that evaluated by the file. */
  readonly blindStarts: number;
  /** The file was neither the old one nor the new one. */
  readonly damaged: number;
  /** The file was of an earlier revision than before. */
  readonly wentBack: number;
  /** The file was of a revision that the database has not. */
  readonly ahead: number;
  /** A start without the database did not decide by what is in the file. */
  readonly wrong: number;
  /** What processes that were killed have left in the folder, beyond one file of each and a lock. */
  readonly litter: number;
}

/** A report as it has to be. */
export const NOTHING_WRONG = {
  damaged: 0,
  wentBack: 0,
  ahead: 0,
  wrong: 0,
  litter: 0,
} satisfies Partial<KillReport>;

export interface KillOptions {
  readonly compiled: CompiledService;
  readonly database: RemovableDatabase;
  readonly kills: number;
  readonly seed: number;
}

const AGENT = 'killed-agent-1';
/** Agents that only make the file larger, so that saving it takes longer. */
const FILLERS = 5_000;
/** The state is saved about a second after a change; killed somewhere around that. */
const SHORTEST_RUN_MS = 500;
const LONGEST_RUN_MS = 1_700;

/**
 * Kills the service again and again while it changes a control and saves what it knows. Whatever it leaves must be one
 * state as a whole, and a start without the database must decide by it.
 */
export async function killRuns({ compiled, database, kills, seed }: KillOptions): Promise<KillReport> {
  const random = new Random(seed);
  const { file, environment } = database;
  const running: ServiceProcess[] = [];
  const seen = new Set<number>();
  const found = { blindStarts: 0, damaged: 0, wentBack: 0, ahead: 0, wrong: 0 };
  let latest = 0;
  let killed = 0;

  async function start(): Promise<{ service: ServiceProcess; call: RestClient }> {
    const service = await spawnService(compiled, { environment });
    running.push(service);
    return { service, call: restClient(await service.listening()) };
  }
  async function kill(service: ServiceProcess): Promise<void> {
    service.process.kill('SIGKILL');
    await service.ended;
    killed += 1;
  }

  /** Changes what the control denies to the number of the change, until the service is gone. */
  async function changeUntilDeath(call: RestClient, control: number): Promise<void> {
    for (let count = 0; ; count += 1) {
      const data = denyWord(`word-${count}-`);
      const reply = await call('PUT', `/api/v1/controls/${control}/data`, { data }).catch(() => null);
      if (reply === null) return;
    }
  }

  /** Holds what is in the file against what was there before, and against the database. */
  async function compare(): Promise<void> {
    const checked = await file.check();
    if (checked.kind !== 'usable') {
      if (checked.kind === 'damaged' || latest > 0) found.damaged += 1;
      return;
    }
    const { revision } = checked.value;
    seen.add(revision);
    if (revision < latest) found.wentBack += 1;
    latest = Math.max(latest, revision);
    const opened = await openDatabase({ url: database.ownUrl() });
    if (revision > (await opened.revision())) found.ahead += 1;
    await opened.close();
  }

  async function startBlind(): Promise<void> {
    const read = await file.read();
    if (read.kind !== 'usable') return;
    const state = stateOf(read.value, AGENT);
    const [word = ''] = /word-\d+-/.exec(state.controls?.[0]?.data ?? '') ?? [];
    await database.takeAway();
    const { service, call } = await start();
    const denied = await evaluate(call, AGENT, `a ${word} b`);
    const allowed = await evaluate(call, AGENT, 'another word');
    const isRight =
      denied.body.is_safe === false &&
      allowed.body.is_safe === true &&
      Number(denied.headers.get('x-service-revision')) === state.revision;
    if (word === '' || !isRight) found.wrong += 1;
    found.blindStarts += 1;
    await kill(service);
    await database.bringBack();
  }

  try {
    const first = await start();
    const fill = seeder(first.call);
    await fill.agent(AGENT);
    const control = await fill.control('changing', denyWord('word-0-'));
    await fill.link(AGENT, control);
    // Every later state of the agent has the control.
    await until(
      () => file.read(),
      (read) => read.kind === 'usable' && stateOf(read.value, AGENT).controls?.length === 1,
    );
    await kill(first.service);
    await executeSql(
      database.ownUrl(),
      `INSERT INTO "agents" ("name", "data", "created_at_ms")
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${FILLERS})
        SELECT 'filling-agent-' || i, '{}', 1 FROM n`,
    );
    await compare();
    for (let run = 0; run < kills; run += 1) {
      const { service, call } = await start();
      const changing = changeUntilDeath(call, control);
      await pause(SHORTEST_RUN_MS + random.below(LONGEST_RUN_MS - SHORTEST_RUN_MS));
      await kill(service);
      await changing;
      await compare();
      if (run % 4 === 3) await startBlind();
      for (const one of running.splice(0)) await one.dispose();
    }
  } finally {
    for (const one of running) await one.dispose();
  }
  // The state, a lock, and what each process was writing.
  const expected = 2 + killed;
  const litter = Math.max(0, (await database.leftInFolder()) - expected);
  return { kills, revisions: seen.size, ...found, litter };
}
