import type { CallContext } from '../../contract/call/handler.js';
import { type PageAsked, paginationOf } from '../../contract/call/page.js';
import { isoOf } from '../../contract/call/printed.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { isRowId } from '../../storage/database/row-id.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { controlFact, controlState } from './control-audit.js';
import {
  controlNameConflict,
  controlNotFound,
  controlVersionCorrupted,
  controlVersionNotFound,
} from './control-errors.js';
import type { ControlServiceOptions } from './control-service.js';
import { createControlStore } from './control-store.js';
import {
  type ControlVersionContent,
  type ControlVersionRow,
  createControlVersionStore,
} from './control-version-store.js';
import { isDraft } from './definition/definition.js';
import { definitionIndex } from './definition-index.js';
import { readStoredDefinition, withDataPrefix } from './definition-presentation.js';
import { demandInstalled } from './demand-installed.js';
import { changeWarnings, demandedControl, existingControl } from './existing-control.js';
import { checkReferences } from './reference-problems.js';
import { recordVersion } from './version-recording.js';

/** Largest version number: numbers are 32-bit in storage. */
const MAX_VERSION_NUM = 2 ** 31 - 1;

export type ControlVersions = ReturnType<typeof createControlVersions>;

/** Lists the history of controls, deleted ones included, and restores older versions. */
export function createControlVersions(options: ControlServiceOptions) {
  const { database, mutate, registry, now, referenceProblems, reviewer } = options;

  return {
    /** One page of versions, newest first. Throws CONTROL_NOT_FOUND for a control that never existed. */
    async list(context: CallContext, controlId: number, asked: PageAsked<number>) {
      if (!isRowId(controlId)) throw controlNotFound(controlId);
      const store = createControlVersionStore(scopeOf(context, database.client));
      const page = await store.list(controlId, asked);
      if (page.total === 0) throw controlNotFound(controlId);
      return { versions: page.rows.map(printedVersion), pagination: paginationOf(page, asked.limit) };
    },

    /** Throws CONTROL_NOT_FOUND or CONTROL_VERSION_NOT_FOUND. An unreadable definition is null. */
    async get(context: CallContext, controlId: number, versionNum: number) {
      const version = await existingVersion(scopeOf(context, database.client), controlId, versionNum);
      const stored = readStoredDefinition(version.data, registry);
      return {
        ...printedVersion(version),
        snapshot: {
          name: version.name,
          data: stored.ok ? stored.definition : null,
          deleted_at: version.eventType === 'deleted' ? isoOf(version.createdAtMs) : null,
          cloned_control_id: null,
          cloned_from_control_id: version.clonedFromId,
        },
      };
    },

    /**
     * Makes name and definition of a version current again, as a new version. Strict mode does not reject it:
     * accepted data must remain restorable. Throws CONTROL_NOT_FOUND, also for a deleted control,
     * CONTROL_VERSION_NOT_FOUND, CORRUPTED_DATA, CONTROL_NAME_CONFLICT, or errors of references.
     */
    async restore(context: CallContext, controlId: number, versionNum: number, ifVersion: IfVersion) {
      const found = scopeOf(context, database.client);
      await existingControl(found, controlId);
      // A version never changes, so it is read and checked before the transaction, which blocks all others.
      const version = await existingVersion(found, controlId, versionNum);
      const read = readStoredDefinition(version.data, registry);
      if (!read.ok) throw controlVersionCorrupted(controlId, versionNum, withDataPrefix(read.items));
      const control = read.stored;
      demandInstalled(control, registry);
      const { number: newNumber, applied } = await mutate(context, async (scope) => {
        const { row, version: before } = await demandedControl(scope, controlId, ifVersion);
        const store = createControlStore(scope);
        const renamed = version.name !== row.name;
        if (renamed && (await store.findByName(version.name)) !== null) {
          throw controlNameConflict(version.name);
        }
        if (!isDraft(control))
          await checkReferences(referenceProblems, scope, control, context.principal.agents);
        const { name, data } = version;
        const restored = { name, data, ...definitionIndex(control), updatedAtMs: now() };
        await store.update(controlId, restored);
        const after = { ...row, ...restored };
        const note = `Restored from version ${versionNum}`;
        const number = await recordVersion(scope, context, {
          eventType: 'updated',
          note,
          before: row,
          after,
        });
        const states = [controlState(row, before), controlState(after, number)] as const;
        const audit = controlFact('control.restore_version', after, ...states);
        const value = { number, applied: await changeWarnings(scope, row) };
        return { value, change: { controls: [controlId] }, audit };
      });
      const warnings = await reviewer.warningsOf(context, database.client, control, controlId);
      return {
        success: true,
        version_num: newNumber,
        warnings: [...warnings, ...applied],
        version: newNumber,
      };
    },
  };
}

/** Throws CONTROL_NOT_FOUND for a control that never existed, or CONTROL_VERSION_NOT_FOUND. */
async function existingVersion(
  scope: Scoped,
  controlId: number,
  versionNum: number,
): Promise<ControlVersionContent> {
  if (!isRowId(controlId)) throw controlNotFound(controlId);
  const store = createControlVersionStore(scope);
  const isNumber = versionNum >= 1 && versionNum <= MAX_VERSION_NUM;
  const version = isNumber ? await store.find(controlId, versionNum) : null;
  if (version !== null) return version;
  if ((await store.lastNumber(controlId)) === 0) throw controlNotFound(controlId);
  throw controlVersionNotFound(controlId, versionNum);
}

/** A version as contained in replies, with members in the same order. */
function printedVersion(version: ControlVersionRow) {
  return {
    version_num: version.id,
    event_type: version.eventType,
    note: version.note,
    created_at: isoOf(version.createdAtMs),
    key_fingerprint: version.keyFingerprint,
    changed_members: version.changedMembers,
    author: version.author,
  };
}
