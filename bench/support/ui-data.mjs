/** Data of a large installation for the benchmarks of the dashboard. */
import { randomUUID } from 'node:crypto';

/** @import { Caller } from '../../scripts/demo-data/load.mjs' */

const PARALLEL_CALLS = 16;
/** Events of one request. */
const BATCH = 1000;
/** @param {number} number */
const leaf = (number) => ({
  selector: { path: `input.field_${number}` },
  evaluator: { name: 'regex', config: { pattern: `\\bsecret-${number}\\b` } },
});

/**
 * A condition of so many nodes: AND of groups of ten leaves.
 * @param {number} nodes
 */
export function conditionOf(nodes) {
  /** @type {object[]} */
  const groups = [];
  for (let left = nodes - 1; left > 0; ) {
    const size = Math.min(10, left - 1);
    const first = groups.length * 10;
    groups.push(
      size === 0 ? leaf(first) : { or: Array.from({ length: size }, (_, index) => leaf(first + index)) },
    );
    left -= size + 1;
  }
  return { and: groups };
}

/**
 * Agents, controls and events, and one control with a condition of 500 nodes.
 * @param {Caller} call
 * @param {{ agents: number, controls: number, conditionNodes: number, events: number }} counts
 * @returns {Promise<number>} id of the control with the large condition
 */
export async function loadLargeInstallation(call, { agents, controls, conditionNodes, events: count }) {
  /** @param {string} name @param {object} condition */
  const control = (name, condition) => ({
    name,
    data: { execution: 'server', condition, action: { decision: 'deny' }, tags: ['bench'] },
  });
  const { control_id: largest } = await call(
    'PUT',
    '/controls',
    control('large-condition', conditionOf(conditionNodes)),
  );
  await inParallel(controls - 1, (number) =>
    call('PUT', '/controls', control(`control-${number}`, leaf(number))),
  );
  await inParallel(agents, async (number) => {
    const name = `agent-${String(number).padStart(6, '0')}`;
    await call('POST', '/agents/initAgent', { agent: { agent_name: name } });
    await call('POST', `/agents/${name}/controls/${largest + 1 + (number % (controls - 1))}`);
  });
  const now = Date.now();
  for (let first = 0; first < count; first += BATCH) {
    const length = Math.min(BATCH, count - first);
    const events = Array.from({ length }, (_, index) => ({
      control_execution_id: randomUUID(),
      trace_id: randomUUID(),
      span_id: 'span',
      agent_name: `agent-${String((first + index) % agents).padStart(6, '0')}`,
      control_id: largest + 1 + (index % 100),
      control_name: `control-${index % 100}`,
      check_stage: 'pre',
      applies_to: 'tool_call',
      action: 'deny',
      matched: index % 7 === 0,
      confidence: 1,
      timestamp: new Date(now - (first + index) * 4000).toISOString(),
    }));
    await call('POST', '/observability/events', { events });
  }
  return largest;
}

/**
 * @param {number} count
 * @param {(number: number) => Promise<unknown>} task
 */
async function inParallel(count, task) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      await task(number);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker));
}
