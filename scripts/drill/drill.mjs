/**
 * A disaster on purpose: backs up a database under load, destroys it, restores it, and compares what is there with a
 * ledger of what was acknowledged.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { missing, watched } from './checks.mjs';
import { startClients } from './clients.mjs';
import { createLoad } from './load.mjs';
import { createRelease } from './release.mjs';

/** Ends a wait for what never happens, in milliseconds. */
const LIMIT_MS = 300_000;
const POLL_MS = 20;

async function until(check, what) {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function timed(work) {
  const startedAt = performance.now();
  const value = await work();
  return { value, ms: Math.round(performance.now() - startedAt) };
}

/** Copies the database under load. Returns the number of entries of the ledger that were acknowledged before. */
async function backUpUnderLoad({ store, release, load, entries }) {
  await until(() => load.ledger.length >= entries, 'enough acknowledged changes before the backup');
  const before = load.ledger.length;
  const anchor = /\d+:[0-9a-f]{64}/.exec(await release.command('verify-audit'))?.[0] ?? '';
  const { value: bytes, ms } = await timed(() => store.backUp(release));
  const after = load.ledger.length;
  await until(() => load.ledger.length >= after + entries, 'enough acknowledged changes after the backup');
  return { before, anchor, bytes, ms };
}

/** Goes on with the restored database until everyone was served. Returns what was acknowledged since. */
async function goOn({ load, clients, entries, release }) {
  const from = load.ledger.length;
  const { answers } = clients.evaluations;
  load.start();
  await until(() => load.ledger.length >= from + entries, 'enough acknowledged changes after the restore');
  await until(() => clients.evaluations.answers > answers + 10, 'evaluations after the restore');
  await load.stop();
  const since = load.ledger.slice(from);
  let late = [];
  await until(async () => {
    late = await watched(release.url, clients, since);
    return late.length === 0;
  }, `watchers that are current`).catch(() => {});
  return { since, late };
}

async function commandsOf(release, anchor) {
  const problems = [];
  const verified = await release.command('verify-audit', anchor).catch((error) => {
    problems.push(String(error));
    return '';
  });
  const rebuilt = await release.command('rebuild-statistics');
  if (!/corrected 0 sums/.test(rebuilt)) problems.push(`statistics differ from the events: ${rebuilt}`);
  return { problems, verified };
}

/**
 * Runs a drill; the caller reads `problems` of its report, which is empty if nothing was lost.
 * @param {import('./drill.mjs').DrillOptions} options
 * @returns {Promise<import('./drill.mjs').DrillReport>}
 */
export async function runDrill({ main, open, entries = 300, tamper = async () => {} }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'drill-'));
  const closers = [() => rm(folder, { recursive: true, force: true })];
  try {
    const { createClient } = await import(
      String(pathToFileURL(path.resolve(main, '../../packages/client/src/node.js')))
    );
    const store = await open(folder);
    closers.push(() => store.close());
    const release = await createRelease({ main, folder: path.join(folder, 'work'), databaseUrl: store.url });
    const first = await release.start();
    closers.push(() => first.kill());
    const load = createLoad(release.url);
    await load.seed();
    const clients = startClients(createClient, release.url);
    closers.push(() => clients.stop());
    load.start();
    closers.push(() => load.stop());
    const backup = await backUpUnderLoad({ store, release, load, entries });

    // The disaster comes while everyone is at work.
    load.mayFail();
    await first.kill();
    await load.stop();
    const lost = load.ledger.length - backup.before;
    await store.destroy();
    const { streams } = clients.events;
    let advanced = '';
    const { value: second, ms: restoreMs } = await timed(async () => {
      await store.restore();
      await tamper(store);
      advanced = await release.command('after-restore');
      return release.start();
    });
    closers.push(() => second.stop());
    await until(() => clients.events.streams > streams, 'the watcher of events on the restored service');
    const kept = await missing(release.url, load.ledger.slice(0, backup.before), 'acknowledged and lost');
    const { since, late } = await goOn({ load, clients, entries, release });
    const later = await missing(release.url, since, 'acknowledged after the restore and lost');
    const { problems, verified } = await commandsOf(release, backup.anchor);
    return {
      store: store.name,
      problems: [
        ...kept,
        ...later,
        ...late,
        ...load.errors,
        ...clients.evaluations.wrong,
        ...clients.controls.ends,
        ...(clients.events.restorations === 1
          ? []
          : ['the watcher of events was not told of the restore once']),
        ...problems,
      ],
      acknowledged: { beforeBackup: backup.before, afterBackup: lost, afterRestore: since.length },
      evaluations: clients.evaluations.answers,
      backup: { bytes: backup.bytes, ms: backup.ms },
      restoreMs,
      advanced,
      verified,
    };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
