import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { columnsOf, tableOf } from '../../storage/database/insert-rows.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { columns, mapped, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';

/** Cause of a version. */
export type VersionEvent = 'created' | 'cloned' | 'updated' | 'deleted';

const WITHOUT_CONTENT = columns({
  versionNum: number,
  eventType: text,
  note: text,
  /** Milliseconds since the epoch. */
  createdAtMs: number,
  /** Null when the change was made without a key. */
  keyFingerprint: nullable(text),
  /** Name of the key or subject of the token, otherwise the kind of the caller. Null if it is not known. */
  author: nullable(text),
  changedMembers: mapped(text, (stored) => parseStoredJson(stored) as readonly string[]),
});

/** A version of a control without its content. */
export interface ControlVersionRow extends Omit<ReadRow<typeof WITHOUT_CONTENT>, 'versionNum'> {
  /** Number of the version. */
  readonly id: number;
}

/** The newest version of a control, and who made it and the first one; null where that is not known. */
export interface ControlEnds {
  readonly version: number;
  readonly updatedBy: string | null;
  readonly createdBy: string | null;
}

/** The ends of a history without versions. */
export const NO_VERSION: ControlEnds = { version: 0, updatedBy: null, createdBy: null };

/** A version of a control with its content. */
export interface ControlVersionContent extends ControlVersionRow {
  readonly name: string;
  /** The stored text of the definition. */
  readonly data: string;
  /** The control that this one is a clone of; null if it is none. */
  readonly clonedFromId: number | null;
}

/** A version to be stored; the store numbers it. */
export interface NewControlVersion extends Omit<ControlVersionContent, 'id' | 'eventType' | 'clonedFromId'> {
  readonly controlId: number;
  readonly eventType: VersionEvent;
}

/** Columns of a version but its number. */
const NEW = {
  control_id: 'INTEGER',
  event_type: 'TEXT',
  note: 'TEXT',
  created_at_ms: 'BIGINT',
  key_fingerprint: 'TEXT',
  author: 'TEXT',
  changed_members: 'TEXT',
  name: 'TEXT',
  data: 'TEXT',
} as const;

function newColumns(version: NewControlVersion) {
  assertStorable(version.data);
  return {
    control_id: version.controlId,
    event_type: version.eventType,
    note: version.note,
    created_at_ms: BigInt(version.createdAtMs),
    key_fingerprint: version.keyFingerprint,
    author: version.author,
    changed_members: stringifyJson([...version.changedMembers]),
    name: version.name,
    data: version.data,
  };
}

/**
 * Versions of controls of a namespace, deleted ones included, which are added and never changed. Ids and numbers must have 32 bits. Writing needs the
 * client of a mutation. Every method rejects with a `ServiceError` only.
 */
export function createControlVersionStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const lastNumber = async (controlId: number): Promise<number> => {
    const { _max } = await client.controlVersion.aggregate({
      where: { controlId, control: of },
      _max: { versionNum: true },
    });
    return _max.versionNum ?? 0;
  };

  return {
    /** Adds a version of a control, which must exist, and returns its number. Mutations run one after another, so the numbers have no gaps. */
    append: ({ changedMembers, createdAtMs, ...version }: NewControlVersion): Promise<number> =>
      withServiceErrors(async () => {
        assertStorable(version.data);
        const where = { id: version.controlId, ...of };
        await client.control.findUniqueOrThrow({ where, select: { id: true } });
        const versionNum = (await lastNumber(version.controlId)) + 1;
        const data = {
          ...version,
          versionNum,
          createdAtMs: BigInt(createdAtMs),
          changedMembers: stringifyJson([...changedMembers]),
        };
        await client.controlVersion.create({ data, select: { versionNum: true } });
        return versionNum;
      }),

    /** Adds one version to each of some controls, each once. Those of unknown controls are left out. */
    appendAll: (versions: readonly NewControlVersion[]): Promise<void> =>
      withServiceErrors(async () => {
        await inPortions(versions, (portion) => {
          const rows = tableOf(NEW, portion.map(newColumns));
          return client.$queryRaw<never[]>`
            INSERT INTO "control_versions" ("version_num", ${columnsOf(NEW)})
            SELECT 1 + COALESCE((
              SELECT MAX(v."version_num") FROM "control_versions" v WHERE v."control_id" = w."control_id"), 0),
              ${columnsOf(NEW, 'w')}
            FROM ${rows} AS w JOIN "controls" c ON c."id" = w."control_id" AND ${inNamespace('c', scope)}`;
        });
      }),

    /** The number of the newest version; 0 when there is none. */
    lastNumber: (controlId: number): Promise<number> => withServiceErrors(() => lastNumber(controlId)),

    /** The ends of the histories of controls. */
    ends: (controlIds: readonly number[]): Promise<Map<number, ControlEnds>> =>
      withServiceErrors(async () => {
        if (controlIds.length === 0) return new Map();
        const rows = await client.$queryRaw<EndsRow[]>(Prisma.sql`
          SELECT n."id", n."version", l."author" AS "updatedBy", f."author" AS "createdBy"
          FROM (
            SELECT "control_id" AS "id", MAX("version_num") AS "version" FROM "control_versions"
            WHERE "control_id" IN (${Prisma.join([...controlIds])}) GROUP BY "control_id") n
          JOIN "control_versions" l ON l."control_id" = n."id" AND l."version_num" = n."version"
          JOIN "controls" c ON c."id" = n."id" AND ${inNamespace('c', scope)}
          LEFT JOIN "control_versions" f
            ON f."control_id" = n."id" AND f."version_num" = 1 AND f."event_type" IN ('created', 'cloned')`);
        return new Map(
          rows.map(({ id, version, ...authors }) => [Number(id), { version: Number(version), ...authors }]),
        );
      }),

    /** The stored texts of the newest versions, newest first. */
    texts: (controlId: number, limit: number): Promise<string[]> =>
      withServiceErrors(async () => {
        const rows = await client.controlVersion.findMany({
          where: { controlId, control: of },
          select: { data: true },
          orderBy: { versionNum: 'desc' },
          take: limit,
        });
        return rows.map(({ data }) => data);
      }),

    find: (controlId: number, versionNum: number): Promise<ControlVersionContent | null> =>
      withServiceErrors(async () => {
        const row = await client.controlVersion.findUnique({
          where: { controlId_versionNum: { controlId, versionNum }, control: of },
          include: { control: { select: { clonedFromId: true } } },
        });
        if (row === null) return null;
        const { name, data, control } = row;
        return { ...toRow(row), name, data, clonedFromId: control.clonedFromId };
      }),

    /** One page, newest first. */
    list: (controlId: number, page: PageAsked<number>): Promise<Page<ControlVersionRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"control_versions" v JOIN "controls" c ON c."id" = v."control_id"`,
          filters: [Prisma.sql`v."control_id" = ${controlId}`, inNamespace('c', scope)],
          ...newestFirst(Prisma.sql`"version_num"`, page),
        };
        return findPage(client, query, async (numbers) => {
          const where = { controlId, control: of, versionNum: { in: numbers } };
          return (await client.controlVersion.findMany({ where, select: WITHOUT_CONTENT.selected })).map(
            toRow,
          );
        });
      }),
  };
}

interface EndsRow extends Omit<ControlEnds, 'version'> {
  readonly id: number;
  readonly version: number;
}

function toRow(stored: Parameters<typeof WITHOUT_CONTENT.of>[0]): ControlVersionRow {
  const { versionNum: id, ...version } = WITHOUT_CONTENT.of(stored);
  return { id, ...version };
}
