import type { Acknowledged, History } from './concurrent-history.js';

/** Between these times something happened. */
interface Span {
  readonly started: number;
  readonly ended: number;
}

/**
 * A control is there from its creation to its one deletion, and not a moment longer; an agent from its one creation.
 * `present` are the ids of the controls that are there at the end.
 */
export function checkLives(history: History, present: ReadonlySet<number>): string[] {
  const problems: string[] = [];
  const deletions = new Map<number, Span>();
  for (const { effects, started, ended, what } of history.operations) {
    for (const { subject, value } of effects) {
      if (!subject.startsWith('control ') || value !== false) continue;
      const id = Number(subject.slice('control '.length));
      if (deletions.has(id)) problems.push(`${what}: control ${id} was deleted twice`);
      deletions.set(id, { started, ended });
    }
  }
  const ids = history.controlIds();
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) !== index) problems.push(`id ${id} was given twice`);
    if (present.has(id) === deletions.has(id)) {
      problems.push(
        `control ${id} is ${present.has(id) ? 'there though deleted' : 'gone without a deletion'}`,
      );
    }
  }
  for (const id of present) if (!ids.includes(id)) problems.push(`control ${id} was never created`);
  const registrations = firstRegistrations(history.operations);
  for (const operation of history.operations) {
    const { status, what } = operation;
    const wrong =
      status === 404 ? wrongMiss(operation, deletions, registrations) : lateHit(operation, deletions);
    if (wrong !== null) problems.push(`${what}: ${status}, ${wrong}`);
  }
  return problems;
}

/** When each agent was registered at the latest. */
function firstRegistrations(operations: readonly Acknowledged[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { effects, ended } of operations) {
    for (const { subject } of effects) {
      if (!subject.startsWith('agent ')) continue;
      const agent = subject.slice('agent '.length);
      first.set(agent, Math.min(first.get(agent) ?? Number.POSITIVE_INFINITY, ended));
    }
  }
  return first;
}

function wrongMiss(
  { body, target, started, ended }: Acknowledged,
  deletions: ReadonlyMap<number, Span>,
  registrations: ReadonlyMap<string, number>,
): string | null {
  if (body.error_code === 'AGENT_NOT_FOUND') {
    const registered = registrations.get(body.details.name);
    return registered !== undefined && registered < started ? 'though the agent was registered' : null;
  }
  if (body.error_code !== 'CONTROL_NOT_FOUND') return `which ${body.error_code} does not explain`;
  const deletion = target === undefined ? undefined : deletions.get(target);
  if (deletion === undefined) return 'without a deletion of the control';
  return ended < deletion.started ? 'before the control was deleted' : null;
}

function lateHit({ target, started }: Acknowledged, deletions: ReadonlyMap<number, Span>): string | null {
  const deletion = target === undefined ? undefined : deletions.get(target);
  return deletion !== undefined && started > deletion.ended ? 'after the control was deleted' : null;
}
