/** Compares a restored service with the ledger of what was acknowledged. */
import { createSender, WATCHED_AGENT } from './load.mjs';

/** How many missing or repeated things a problem names. */
const NAMED = 5;

function problemOf(what, wrong) {
  if (wrong.length === 0) return [];
  return [`${wrong.length} ${what}: ${wrong.slice(0, NAMED).join(', ')}`];
}

const linesOf = (text) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** What the service has: sets of texts to find entries of the ledger in. */
async function contentsOf(url, entries) {
  const send = createSender(url);
  const events = new Map();
  for (const event of linesOf(await send('POST', '/api/v1/observability/events/export', {}))) {
    const id = event.control_execution_id;
    events.set(id, (events.get(id) ?? 0) + 1);
  }
  const audit = new Map();
  for (const { action, resource_id: id, after } of linesOf(await send('POST', '/api/v1/audit/export', {}))) {
    const linked = action === 'agent.add_control' ? ` ${JSON.parse(after).control_id}` : '';
    const key = `${action} ${id}${linked}`;
    audit.set(key, (audit.get(key) ?? 0) + 1);
  }
  const names = new Map();
  const links = new Map();
  for (const { kind, agent, id } of entries) {
    if (kind === 'control') {
      const body = await send('GET', `/api/v1/controls/${id}`).catch(() => null);
      if (body !== null) names.set(id, JSON.parse(body).name);
    }
    if (kind !== 'event' && agent !== undefined && !links.has(agent)) {
      const body = await send('GET', `/api/v1/agents/${agent}/controls`).catch(() => null);
      if (body !== null) links.set(agent, new Set(JSON.parse(body).controls.map((control) => control.id)));
    }
  }
  return { events, audit, names, links };
}

function isThere(entry, { events, audit, names, links }) {
  switch (entry.kind) {
    case 'agent':
      return links.has(entry.agent) && audit.get(`agent.create ${entry.agent}`) === 1;
    case 'control':
      return names.get(entry.id) === entry.name && audit.get(`control.create ${entry.id}`) === 1;
    case 'link':
      return (
        links.get(entry.agent)?.has(entry.id) === true &&
        audit.get(`agent.add_control ${entry.agent} ${entry.id}`) === 1
      );
    default:
      return events.get(entry.id) === 1;
  }
}

const nameOf = ({ kind, agent = '', id = '' }) => `${kind} ${agent} ${id}`.replace(/ +/g, ' ').trim();

/**
 * What of the ledger is not there exactly once, with its entry of the audit log. An id of a control is given again after
 * a restore, so the last entry of each is what counts.
 */
export async function missing(url, entries, what) {
  const contents = await contentsOf(url, entries);
  const absent = entries.filter((entry) => !isThere(entry, contents)).map(nameOf);
  return { problems: problemOf(what, absent), contents };
}

/** What the watchers have to have received by now. */
export async function watched(url, clients, since) {
  const send = createSender(url);
  const { controls } = JSON.parse(await send('GET', `/api/v1/agents/${WATCHED_AGENT}/controls`));
  const names = controls.map(({ name }) => name).sort();
  const isCurrent = JSON.stringify(names) === JSON.stringify(clients.controls.names);
  const ids = since.filter(({ kind }) => kind === 'event').map(({ id }) => id);
  const unseen = ids.filter((id) => clients.events.ids.get(id) !== 1);
  return [
    ...(isCurrent ? [] : ['the watcher of controls does not have the controls of its agent']),
    ...problemOf('events not sent to their watcher exactly once', unseen),
  ];
}
