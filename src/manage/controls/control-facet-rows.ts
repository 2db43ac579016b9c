import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../../storage/database/database.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { tableOf } from '../../storage/database/insert-rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { hashText } from '../../storage/database/text.js';
import { ID } from './control-columns.js';
import type { ControlFacet } from './control-filters.js';
import type { ControlRow, NewControl } from './control-row.js';

const FACET = { ...ID, kind: 'TEXT', hash: 'TEXT' } as const;

/** A condition that a row of `w` is one of a living control of the namespace. */
export function ofTable(alias: string, scope: Scoped): Prisma.Sql {
  const of = (column: string) => Prisma.raw(`"${alias}"."${column}"`);
  return Prisma.sql`${of('id')} = w."id" AND ${inNamespace(alias, scope)} AND ${of('deleted_at_ms')} IS NULL`;
}

/** Those of unknown controls are left out. */
export async function insertAllFacets(
  scope: Scoped,
  controls: readonly Pick<NewControl & ControlRow, 'id' | 'facets'>[],
): Promise<void> {
  const rows = controls.flatMap(({ id, facets }) =>
    facetRows(id, facets).map(({ kind, hash }) => ({ id, kind, hash })),
  );
  await inPortions(
    rows,
    (portion) => scope.client.$queryRaw<never[]>`
      INSERT INTO "control_facets" ("control_id", "kind", "hash") SELECT w."id", w."kind", w."hash"
      FROM ${tableOf(FACET, portion)} AS w JOIN "controls" c ON ${ofTable('c', scope)}`,
  );
}

/** The facets of one control, which must exist. */
export async function insertFacets(
  client: DbClient,
  controlId: number,
  facets: readonly ControlFacet[],
): Promise<void> {
  const rows = facetRows(controlId, facets);
  if (rows.length > 0) await client.controlFacet.createMany({ data: rows });
}

function facetRows(controlId: number, facets: readonly ControlFacet[]): Prisma.ControlFacetCreateManyInput[] {
  const rows = new Map<string, Prisma.ControlFacetCreateManyInput>();
  for (const { kind, value } of facets) {
    const hash = hashText(value);
    rows.set(`${kind} ${hash}`, { controlId, kind, hash });
  }
  return [...rows.values()];
}
