import { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { PageQuery } from '../database/page.js';
import { FALSE, hashText, isStorable, nameContains } from '../database/text.js';

/** Filters of a control list. Null means no filter; all filters must match. */
export interface ControlFilters {
  /** Only smaller ids; any integer. */
  readonly cursor: number | null;
  readonly limit: number;
  /** Part of the name, ignoring case. */
  readonly nameContains: string | null;
  readonly enabled: boolean | null;
  readonly templateBacked: boolean | null;
  /** Controls that name this step type, or none at all. */
  readonly stepType: string | null;
  /** Controls that name this stage, or none at all. */
  readonly stage: string | null;
  readonly execution: string | null;
  /** Controls that have exactly this tag. */
  readonly tag: string | null;
}

const MIN_ID = -(2 ** 31);
const MAX_ID = 2 ** 31 - 1;

/** The query of a page of controls. */
export function controlPageQuery(filters: ControlFilters): PageQuery {
  const { cursor, limit } = filters;
  return {
    from: Prisma.sql`"controls" c`,
    id: Prisma.sql`c."id"`,
    filters: conditions(filters),
    // Beyond the range of ids the comparison would fail, and its result is known anyway.
    after:
      cursor === null || cursor > MAX_ID ? null : cursor < MIN_ID ? FALSE : Prisma.sql`c."id" < ${cursor}`,
    orderBy: Prisma.sql`c."id" DESC`,
    limit,
  };
}

function conditions(filters: ControlFilters): Prisma.Sql[] {
  const { enabled, templateBacked, stepType, stage, execution, tag } = filters;
  const found: Prisma.Sql[] = [
    Prisma.sql`c."deleted_at_ms" IS NULL`,
    nameContains(Prisma.sql`c."name"`, filters.nameContains ?? ''),
  ];
  if (enabled !== null) found.push(Prisma.sql`c."enabled" = ${enabled}`);
  if (templateBacked !== null) found.push(Prisma.sql`c."template_backed" = ${templateBacked}`);
  if (stepType !== null) {
    found.push(Prisma.sql`(NOT c."restricts_step_types" OR ${hasFacet('step_type', stepType)})`);
  }
  if (stage !== null) found.push(Prisma.sql`(NOT c."restricts_stages" OR ${hasFacet('stage', stage)})`);
  if (execution !== null) {
    found.push(isStorable(execution) ? Prisma.sql`c."execution" = ${execution}` : FALSE);
  }
  if (tag !== null) found.push(hasFacet('tag', tag));
  const looksInside = [stepType, stage, execution, tag].some((filter) => filter !== null);
  // An incomplete template has no definition yet.
  if (looksInside) found.push(Prisma.sql`c."template_rendered" IS NOT FALSE`);
  return found;
}

function hasFacet(kind: 'step_type' | 'stage' | 'tag', value: string): Prisma.Sql {
  return Prisma.sql`c."id" IN (
    SELECT f."control_id" FROM "control_facets" f WHERE f."kind" = ${kind} AND f."hash" = ${hashText(value)})`;
}
