/** Fills a database with teams by set-based SQL: each has a policy with some controls, and agents that have it. */
import { openRaw } from './event-fill.mjs';

/** @import { Kind } from './event-fill.mjs' */

/** The agent and the control over REST whose stored texts those of the teams are copies of. */
export const TEMPLATE_AGENT = 'bench-template-agent';
export const TEMPLATE_CONTROL = 'bench-template-control';

/** @param {number} team */
export const teamName = (team) => `team-${String(team).padStart(5, '0')}`;
/** @param {number} index */
export const agentName = (index) => `bench-agent-${String(index).padStart(6, '0')}`;

/**
 * Creates `teams` with `agents` and `controls` each, while no service runs. With `areNamespaces` each is a namespace of its
 * own, in which the agents of all have the same names; otherwise all are in `default`, and the names go on.
 * @param {Kind} kind
 * @param {string} url
 * @param {{ teams: number, agents: number, controls: number, areNamespaces: boolean }} counts
 */
export async function fillTeams(kind, url, { teams, agents, controls, areNamespaces }) {
  const raw = await openRaw(kind, url);
  /** @param {string} name @param {number} end */
  const series = (name, end) =>
    kind === 'sqlite'
      ? `(WITH RECURSIVE "s" ("${name}") AS (SELECT 0 UNION ALL SELECT "${name}" + 1 FROM "s" WHERE "${name}" < ${end - 1}) SELECT "${name}" FROM "s")`
      : `(SELECT generate_series(0, ${end - 1}) AS "${name}")`;
  /** @param {string} number @param {number} digits */
  const padded = (number, digits) =>
    kind === 'sqlite' ? `printf('%0${digits}d', ${number})` : `lpad((${number})::text, ${digits}, '0')`;
  const team = `'team-' || ${padded('"team"', 5)}`;
  const namespace = areNamespaces ? team : `'default'`;
  const prefix = areNamespaces ? `${team} || '/'` : `''`;
  const agent = `'bench-agent-' || ${padded(areNamespaces ? '"agent"' : `"team" * ${agents} + "agent"`, 6)}`;
  const control = `'control-' || "team" || '-' || "control"`;
  try {
    if (areNamespaces) {
      await raw.execute(`INSERT INTO "namespaces" ("name", "display_name", "created_at_ms")
        SELECT ${team}, ${team}, 0 FROM ${series('team', teams)} AS "t" WHERE 1 = 1`);
    }
    const columns =
      '"data", "enabled", "execution", "template_backed", "template_rendered", "restricts_step_types", "restricts_stages"';
    await raw.execute(`INSERT INTO "controls" ("name", "live_name", "namespace", "created_at_ms", "updated_at_ms", ${columns})
      SELECT ${control}, ${prefix} || ${control}, ${namespace}, 0, 0, ${columns}
      FROM ${series('team', teams)} AS "t" CROSS JOIN ${series('control', controls)} AS "c"
      CROSS JOIN (SELECT ${columns} FROM "controls" WHERE "name" = '${TEMPLATE_CONTROL}') AS "template"`);
    await raw.execute(`INSERT INTO "policies" ("name", "namespace", "created_at_ms")
      SELECT ${prefix} || 'policy-' || "team", ${namespace}, 0 FROM ${series('team', teams)} AS "t" WHERE 1 = 1`);
    await raw.execute(`INSERT INTO "policy_controls" ("policy_id", "control_id")
      SELECT p."id", c."id" FROM ${series('team', teams)} AS "t" CROSS JOIN ${series('control', controls)} AS "n"
      JOIN "policies" p ON p."name" = ${prefix} || 'policy-' || "team"
      JOIN "controls" c ON c."live_name" = ${prefix} || ${control}`);
    await raw.execute(`INSERT INTO "agents" ("name", "namespace", "data", "created_at_ms")
      SELECT ${prefix} || ${agent}, ${namespace}, replace("template"."data", '${TEMPLATE_AGENT}', ${agent}), 0
      FROM ${series('team', teams)} AS "t" CROSS JOIN ${series('agent', agents)} AS "n"
      CROSS JOIN (SELECT "data" FROM "agents" WHERE "name" = '${TEMPLATE_AGENT}') AS "template"`);
    await raw.execute(`INSERT INTO "agent_policies" ("agent_id", "policy_id")
      SELECT a."id", p."id" FROM ${series('team', teams)} AS "t" CROSS JOIN ${series('agent', agents)} AS "n"
      JOIN "policies" p ON p."name" = ${prefix} || 'policy-' || "team" JOIN "agents" a ON a."name" = ${prefix} || ${agent}`);
    await raw.execute(kind === 'postgresql' ? 'VACUUM ANALYZE' : 'ANALYZE');
  } finally {
    await raw.close();
  }
}
