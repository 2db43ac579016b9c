import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { FALSE, hashText, isStorable, nameContains } from '../../storage/database/text.js';
import type { ControlFacet, ControlFilters } from './control-filters.js';
import { patternsOf } from './step-name-patterns.js';

/** The conditions of a filter on controls `c` of a namespace. */
export async function controlConditions(scope: Scoped, filters: ControlFilters): Promise<Prisma.Sql[]> {
  const { enabled, templateBacked, stepType, stage, execution, tag, decisions, stepName } = filters;
  const found: Prisma.Sql[] = [
    inNamespace('c', scope),
    Prisma.sql`c."deleted_at_ms" IS NULL`,
    nameContains(Prisma.sql`c."name"`, filters.nameContains ?? ''),
  ];
  if (enabled !== null) found.push(Prisma.sql`c."enabled" = ${enabled}`);
  if (templateBacked !== null) found.push(Prisma.sql`c."template_backed" = ${templateBacked}`);
  if (filters.cloned !== null) {
    found.push(Prisma.sql`c."cloned_from_id" IS ${filters.cloned ? NOT : Prisma.empty} NULL`);
  }
  if (stepType !== null) {
    found.push(Prisma.sql`(NOT c."restricts_step_types" OR ${hasFacet('step_type', stepType)})`);
  }
  if (stage !== null) found.push(Prisma.sql`(NOT c."restricts_stages" OR ${hasFacet('stage', stage)})`);
  if (execution !== null) {
    found.push(isStorable(execution) ? Prisma.sql`c."execution" = ${execution}` : FALSE);
  }
  if (tag !== null) found.push(hasFacet('tag', tag));
  if (decisions.length > 0) found.push(hasFacet('decision', ...decisions));
  if (stepName !== null) found.push(includesStepName(stepName, await patternsOf(scope, stepName)));
  if (filters.hasAgents !== null)
    found.push(filters.hasAgents ? HAS_AGENTS : Prisma.sql`NOT (${HAS_AGENTS})`);
  if (filters.agentName !== null) {
    const pairs = effectivePairs({ agentKey: scope.namespace.agentKey(filters.agentName) });
    found.push(Prisma.sql`c."id" IN (SELECT e."control_id" FROM (${pairs}) e)`);
  }
  const looksInside = [stepType, stage, execution, tag, stepName].some((filter) => filter !== null);
  // An incomplete template has no definition yet.
  if (looksInside) found.push(Prisma.sql`c."template_rendered" IS NOT FALSE`);
  return found;
}

function hasFacet(kind: ControlFacet['kind'], ...values: readonly string[]): Prisma.Sql {
  const hashes = Prisma.join(values.map(hashText));
  return Prisma.sql`c."id" IN (
    SELECT f."control_id" FROM "control_facets" f WHERE f."kind" = ${kind} AND f."hash" IN (${hashes}))`;
}

/** That the scope names the step, its pattern is one of those that match it, or it restricts no names. */
function includesStepName(stepName: string, patterns: readonly string[]): Prisma.Sql {
  const anyName = Prisma.sql`(c."step_name_pattern" IS NULL AND NOT EXISTS (
    SELECT 1 FROM "control_facets" f WHERE f."control_id" = c."id" AND f."kind" = 'step_name'))`;
  const matches =
    patterns.length === 0 ? FALSE : Prisma.sql`c."step_name_pattern" IN (${Prisma.join([...patterns])})`;
  return Prisma.sql`(${hasFacet('step_name', stepName)} OR ${matches} OR ${anyName})`;
}

const NOT = Prisma.sql`NOT`;

/**
 * One link is looked for: the pairs of agents and controls may be millions. As values, which PostgreSQL reads for each
 * control; it would read the links of all namespaces for EXISTS.
 */
const HAS_AGENTS = Prisma.sql`(
  (SELECT 1 FROM "agent_controls" l WHERE l."control_id" = c."id" LIMIT 1) IS NOT NULL
  OR (SELECT 1 FROM "policy_controls" p WHERE p."control_id" = c."id"
    AND (SELECT 1 FROM "agent_policies" g WHERE g."policy_id" = p."policy_id" LIMIT 1) IS NOT NULL LIMIT 1) IS NOT NULL)`;
