/** What goes on through the disaster: evaluations, and watchers of controls and of events. */
import { WATCHED_AGENT } from './load.mjs';

const PAUSE_MS = 20;
/** Longer than any outage of a drill: an evaluation waits for the restored service. */
const PATIENT_MS = 600_000;

/** `FELL_BEHIND_REASON_DATABASE_RESTORED`. */
const DATABASE_RESTORED = 3;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Evaluates a step to deny and one to allow by turns, one at a time. */
function startEvaluations(client, signal) {
  const found = { answers: 0, wrong: [] };
  const run = async () => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const text = turn % 2 === 0 ? 'forbidden' : 'hello';
      const step = { type: 'llm', name: 'answer', input: text };
      try {
        const { evaluated, isSafe } = await client.evaluate(
          { agent: WATCHED_AGENT, stage: 'pre', step },
          { timeoutMs: PATIENT_MS, signal },
        );
        found.answers += 1;
        if (!evaluated || isSafe !== (text === 'hello')) found.wrong.push(`${text}: isSafe ${isSafe}`);
      } catch (error) {
        if (!signal.aborted) found.wrong.push(String(error));
      }
      await pause(PAUSE_MS);
    }
  };
  return { found, ended: run() };
}

/** The names of the controls of the watched agent, as the client of this repository gives them. */
function watchControls(client, signal) {
  const found = { names: [], ends: [] };
  const run = async () => {
    for await (const { controls } of client.watchControls(WATCHED_AGENT, { signal })) {
      found.names = [...controls.values()].map(({ name }) => name).sort();
    }
  };
  const ended = run().catch((error) => found.ends.push(String(error)));
  return { found, ended };
}

/** Receives every event from the first one on; continues from the last position, as docs/events.md describes. */
function watchEvents(client, signal) {
  const found = { ids: new Map(), streams: 0, restorations: 0 };
  const run = async () => {
    let afterPosition = 0n;
    while (!signal.aborted) {
      let isNew = true;
      try {
        for await (const { position, news } of client.observability.watchEvents(
          { afterPosition },
          { signal },
        )) {
          if (isNew) found.streams += 1;
          isNew = false;
          if (news.case === 'events') {
            for (const { event } of news.value.events) {
              const id = event?.controlExecutionId ?? '';
              found.ids.set(id, (found.ids.get(id) ?? 0) + 1);
            }
          }
          if (news.case === 'fellBehind' && news.value.reason === DATABASE_RESTORED) found.restorations += 1;
          afterPosition = position;
        }
      } catch {
        await pause(PAUSE_MS);
      }
    }
  };
  return { found, ended: run() };
}

/**
 * Starts all of them.
 * @returns {import('./drill.mjs').DrillClients}
 */
export function startClients(createClient, url) {
  const client = createClient({ baseUrl: url });
  const closing = new AbortController();
  const evaluations = startEvaluations(client, closing.signal);
  const controls = watchControls(client, closing.signal);
  const events = watchEvents(client, closing.signal);
  return {
    evaluations: evaluations.found,
    controls: controls.found,
    events: events.found,
    async stop() {
      closing.abort();
      await Promise.all([evaluations.ended, controls.ended, events.ended]);
      client.close();
    },
  };
}
