import type { HandlerCall } from '../../contract/call/handler.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { controlFact, controlState } from './control-audit.js';
import {
  CORRUPTED_ITEM,
  controlCorrupted,
  controlNameConflict,
  draftCannotBeEnabled,
} from './control-errors.js';
import { type ControlPatch, changeNote, withEnabled } from './control-patch.js';
import type { Reviewer } from './control-review.js';
import { createControlStore } from './control-store.js';
import { isDraft } from './definition/definition.js';
import { readStoredDefinition } from './definition-presentation.js';
import { changeWarnings, demandedControl } from './existing-control.js';
import { effectWarnings } from './link-warnings.js';
import { patchWarnings } from './patch-warnings.js';
import { recordVersion } from './version-recording.js';

export interface ControlUpdateOptions {
  readonly registry: EvaluatorRegistry;
  readonly mutate: Mutator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly reviewer: Reviewer;
}

/** Conditions under which a control is written. */
export interface WriteOptions {
  /** Whether warnings about the request are errors. */
  readonly strict: boolean;
  readonly ifVersion: IfVersion;
}

/** Changes the name of a control, or enables or disables it. */
export function createControlUpdate({ mutate, registry, now, reviewer }: ControlUpdateOptions) {
  return {
    /**
     * Throws CONTROL_NOT_FOUND, CONTROL_NAME_CONFLICT, CORRUPTED_DATA, or a VALIDATION_ERROR for enabling a
     * draft, for a request whose members all have no effect, or when `strict` rejects those; then nothing was
     * changed.
     */
    async update(
      context: HandlerCall,
      controlId: number,
      change: ControlPatch,
      { strict, ifVersion }: WriteOptions,
    ) {
      const warnings = patchWarnings(context.ignoredParts(), controlId, change);
      reviewer.demandEffect(warnings, strict);
      return mutate(context, async (scope) => {
        const { row, version: before } = await demandedControl(scope, controlId, ifVersion);
        const renamed = change.name !== undefined && change.name !== row.name;
        if (renamed && (await createControlStore(scope).findByName(change.name ?? '')) !== null) {
          throw controlNameConflict(change.name ?? '');
        }
        const stored = readStoredDefinition(row.data, registry);
        const readable = stored.ok;
        if (change.enabled !== undefined && !readable) {
          const detail = `The stored definition of control ${row.id} cannot be read.`;
          throw controlCorrupted(detail, [CORRUPTED_ITEM], String(row.id));
        }
        if (change.enabled === true && stored.ok && isDraft(stored.stored))
          throw draftCannotBeEnabled(row.id);
        const switched = change.enabled !== undefined && change.enabled !== row.enabled;
        const ofEffect = change.enabled === true && stored.ok ? effectWarnings(stored.stored, registry) : [];
        const reply = (version: number, applied: readonly Warning[]) => ({
          success: true,
          name: change.name ?? row.name,
          enabled: readable ? (change.enabled ?? row.enabled) : null,
          warnings: [...warnings, ...ofEffect, ...applied],
          version,
        });
        if (!renamed && !switched) return { value: reply(before, []), change: null };
        const written = {
          updatedAtMs: now(),
          ...(renamed ? { name: change.name ?? '' } : {}),
          ...(switched ? { data: withEnabled(row.data, !row.enabled), enabled: !row.enabled } : {}),
        };
        await createControlStore(scope).update(controlId, written);
        const note = changeNote(renamed, switched ? !row.enabled : null);
        const after = { ...row, ...written };
        const version = await recordVersion(scope, context, {
          eventType: 'updated',
          note,
          before: row,
          after,
        });
        const states = [controlState(row, before), controlState(after, version)] as const;
        const audit = controlFact('control.update', after, ...states);
        // The name is part of every verdict, so a new one must reach the snapshot too.
        const value = reply(version, await changeWarnings(scope, row));
        return { value, change: { controls: [controlId] }, audit };
      });
    },
  };
}
