import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, flag, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';
import { type ControlRow, toControlRow } from '../controls/control-store.js';

/** Most installations that are listed. */
export const MAX_INSTALLATIONS = 1_000;

const INSTALLATION = columns({
  id: number,
  pack: text,
  version: text,
  policyId: number,
  /** Milliseconds since the epoch. */
  installedAtMs: number,
  updatedAtMs: number,
});

/** A pack in a policy. */
export interface InstallationRow extends ReadRow<typeof INSTALLATION> {
  readonly policyName: string;
}

/** A control of an installation. */
export interface InstalledRow {
  readonly key: string;
  /** The text of the definition as the pack had it. */
  readonly base: string;
  /** Null when it was not chosen, or is deleted. */
  readonly control: ControlRow | null;
}

const LISTED = columns({
  installationId: number,
  key: text,
  controlId: nullable(number),
  controlName: nullable(text),
  /** Whether the text of its definition is another one than that which was installed. */
  differs: flag,
});

/** The same in a list, without texts. */
export type ListedInstalled = ReadRow<typeof LISTED>;

/** A control to be remembered as installed. */
export interface NewInstalled {
  readonly key: string;
  readonly controlId: number | null;
  readonly base: string;
}

export interface InstallationFilters {
  /** Null for all. */
  readonly pack: string | null;
  readonly policyId: number | null;
}

const SHOWN = { policy: { select: { name: true } } } as const;

/**
 * Installations of packs in the policies of a namespace. Writing needs the client of a mutation. Every method rejects with a
 * `ServiceError` only.
 */
export function createPackStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    find: (id: number): Promise<InstallationRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.packInstallation.findUnique({ where: { id, ...of }, include: SHOWN });
        return row === null ? null : toRow(row);
      }),

    findIn: (policyId: number, pack: string): Promise<InstallationRow | null> =>
      withServiceErrors(async () => {
        const where = { policyId_pack: { policyId, pack }, ...of };
        const row = await client.packInstallation.findUnique({ where, include: SHOWN });
        return row === null ? null : toRow(row);
      }),

    /** By id descending, at most MAX_INSTALLATIONS. */
    list: ({ pack, policyId }: InstallationFilters): Promise<InstallationRow[]> =>
      withServiceErrors(async () => {
        if (policyId !== null && !isRowId(policyId)) return [];
        const rows = await client.packInstallation.findMany({
          where: { ...(pack === null ? {} : { pack }), ...(policyId === null ? {} : { policyId }), ...of },
          include: SHOWN,
          orderBy: { id: 'desc' },
          take: MAX_INSTALLATIONS,
        });
        return rows.map(toRow);
      }),

    /** The controls of installations, by key ascending. */
    listed: (ids: readonly number[]): Promise<ListedInstalled[]> =>
      withServiceErrors(async () => {
        if (ids.length === 0) return [];
        const rows = await client.$queryRaw<Parameters<typeof LISTED.of>[0][]>(Prisma.sql`
          SELECT k."installation_id" AS "installationId", k."key", c."id" AS "controlId", c."name" AS "controlName",
            CASE WHEN c."data" = k."base" THEN 0 ELSE 1 END AS "differs"
          FROM "pack_controls" k JOIN "pack_installations" i ON i."id" = k."installation_id"
          LEFT JOIN "controls" c ON c."id" = k."control_id" AND c."deleted_at_ms" IS NULL
            AND ${inNamespace('c', scope)}
          WHERE i."id" IN (${Prisma.join([...ids])}) AND ${inNamespace('i', scope)}
          ORDER BY k."installation_id", k."key"`);
        return rows.map(LISTED.of);
      }),

    /** The controls of an installation with their definitions, by key ascending; of these keys, or of all. */
    controls: (installationId: number, keys: readonly string[] | null): Promise<InstalledRow[]> =>
      withServiceErrors(async () => {
        const rows = await client.packControl.findMany({
          where: { installationId, installation: of, ...(keys === null ? {} : { key: { in: [...keys] } }) },
          include: { control: true },
          orderBy: { key: 'asc' },
        });
        return rows.map(({ key, base, control }) => ({
          key,
          base,
          control: control === null || control.deletedAtMs !== null ? null : toControlRow(control),
        }));
      }),

    /** The policy must belong to the namespace, and must not have the pack. */
    insert: (pack: string, version: string, policyId: number, nowMs: number): Promise<InstallationRow> =>
      withServiceErrors(async () => {
        await client.policy.findUniqueOrThrow({ where: { id: policyId, ...of }, select: { id: true } });
        const data = {
          pack,
          version,
          policyId,
          installedAtMs: BigInt(nowMs),
          updatedAtMs: BigInt(nowMs),
          ...of,
        };
        return toRow(await client.packInstallation.create({ data, include: SHOWN }));
      }),

    /** Replaces what is remembered of all controls of an installation, which must exist. */
    write: (id: number, version: string, controls: readonly NewInstalled[], nowMs: number): Promise<void> =>
      withServiceErrors(async () => {
        for (const { base } of controls) assertStorable(base);
        await client.packInstallation.update({
          where: { id, ...of },
          data: { version, updatedAtMs: BigInt(nowMs) },
          select: { id: true },
        });
        const ids = controls.flatMap(({ controlId }) => controlId ?? []);
        const own = await client.control.count({ where: { id: { in: ids }, ...of } });
        if (own !== ids.length) throw new Error('a control of an installation belongs to another namespace');
        await client.packControl.deleteMany({ where: { installationId: id, installation: of } });
        const data = controls.map((control) => ({ installationId: id, ...control }));
        await client.packControl.createMany({ data });
      }),

    /** False if there is none. What is remembered of its controls goes with it. */
    remove: (id: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const { count } = await client.packInstallation.deleteMany({ where: { id, ...of } });
        return count > 0;
      }),
  };
}

type StoredInstallation = Prisma.PackInstallationGetPayload<{ include: typeof SHOWN }>;

function toRow(row: StoredInstallation): InstallationRow {
  return { ...INSTALLATION.of(row), policyName: nameOfKey(row.policy.name) };
}
