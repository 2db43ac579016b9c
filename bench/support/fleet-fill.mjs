/** Fills a database with a fleet: policies of controls over REST, agents that have one policy each by set-based SQL. */
import { openRaw } from './event-fill.mjs';

/**
 * @import { Caller } from '../../scripts/demo-data/load.mjs'
 * @import { Kind } from './event-fill.mjs'
 */

/** @param {number} index */
export const nameOf = (index) => `fleet-agent-${String(index).padStart(6, '0')}`;

/**
 * The definition of a control; no step of the benchmark matches it.
 * @param {string} word
 */
export function definitionOf(word) {
  return {
    execution: 'server',
    scope: { step_types: ['llm'], stages: ['pre'] },
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'regex', config: { pattern: `forbidden-${word}\\b` } },
    },
    action: { decision: 'deny' },
  };
}

/**
 * Creates `policies` with `controls` each, over a running service. Resolves with their ids and those of their controls.
 * @param {Caller} call
 * @param {{ policies: number, controls: number }} counts
 */
export async function fillPolicies(call, { policies, controls }) {
  /** @type {{ policyId: number, controlIds: number[] }[]} */
  const ids = [];
  for (let policy = 0; policy < policies; policy += 1) {
    const { policy_id } = await call('PUT', '/policies', { name: `fleet-policy-${policy}` });
    /** @type {number[]} */
    const members = [];
    for (let index = 0; index < controls; index += 1) {
      const name = `fleet-control-${policy}-${index}`;
      const { control_id } = await call('PUT', '/controls', {
        name,
        data: definitionOf(`${policy}-${index}`),
      });
      await call('POST', `/policies/${policy_id}/controls/${control_id}`);
      members.push(control_id);
    }
    ids.push({ policyId: policy_id, controlIds: members });
  }
  return ids;
}

/**
 * Adds agents `from` to `to` without it, in turns to the policies, while no service runs.
 * @param {Kind} kind
 * @param {string} url
 * @param {readonly number[]} policyIds
 * @param {number} from
 * @param {number} to
 */
export async function fillAgents(kind, url, policyIds, from, to) {
  const raw = await openRaw(kind, url);
  try {
    const series =
      kind === 'sqlite'
        ? `WITH RECURSIVE "n" ("i") AS (SELECT ${from} UNION ALL SELECT "i" + 1 FROM "n" WHERE "i" < ${to - 1})`
        : '';
    const source = kind === 'sqlite' ? '"n"' : `generate_series(${from}, ${to - 1}) AS "n" ("i")`;
    const name =
      kind === 'sqlite' ? `printf('fleet-agent-%06d', "i")` : `'fleet-agent-' || lpad("i"::text, 6, '0')`;
    const data = `(SELECT "data" FROM "agents" WHERE "name" = 'fleet-template')`;
    await raw.execute(`INSERT INTO "agents" ("name", "data", "created_at_ms")
      ${series} SELECT replace(${name}, ' ', ''), replace(${data}, 'fleet-template', ${name}), 0 FROM ${source} WHERE 1 = 1`);
    const places = policyIds.map((id, place) => `WHEN ${place} THEN ${id}`).join(' ');
    await raw.execute(`INSERT INTO "agent_policies" ("agent_id", "policy_id")
      SELECT "id", CASE "id" % ${policyIds.length} ${places} END FROM "agents"
      WHERE "name" >= '${nameOf(from)}' AND "name" <= '${nameOf(to - 1)}'`);
    if (kind === 'postgresql') await raw.execute('VACUUM ANALYZE');
  } finally {
    await raw.close();
  }
}
