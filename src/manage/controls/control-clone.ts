import { randomBytes } from 'node:crypto';
import { demandScope } from '../../contract/call/demand-scope.js';
import type { HandlerCall } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { once } from '../../storage/database/idempotency.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { demandBindable, targetKeyOf } from './bindings.js';
import { controlFact, controlState } from './control-audit.js';
import { type BindingRow, createControlBindingStore } from './control-binding-store.js';
import { CORRUPTED_ITEM, controlCorrupted, controlNameConflict } from './control-errors.js';
import { type ControlRow, createControlStore } from './control-store.js';
import { definitionIndex } from './definition-index.js';
import { readStoredDefinition } from './definition-presentation.js';
import { demandInstalled } from './demand-installed.js';
import { existingControl } from './existing-control.js';
import { recordVersion } from './version-recording.js';

export interface ControlCloneOptions {
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A clone to be made, and the target that it is bound to. */
export interface CloneRequest {
  readonly control_id: number;
  readonly name?: string | undefined;
  readonly target_binding: {
    readonly target_type: string;
    readonly target_id: string;
    readonly enabled: boolean;
  };
  readonly idempotency_key?: string | undefined;
}

/** A clone, and its version. */
interface Cloned {
  readonly row: ControlRow;
  readonly version: number;
}

/** Longest name of a control, and random digits of a default name. */
const MAX_NAME_LENGTH = 255;
const DIGITS = 16;

export type ControlClone = ReturnType<typeof createControlClone>;

/** Clones controls for targets. */
export function createControlClone({ mutate, registry, now }: ControlCloneOptions) {
  /** A copy of a control as it is stored now. Throws CONTROL_NAME_CONFLICT or CORRUPTED_DATA. */
  async function cloned(
    scope: Scoped,
    context: HandlerCall,
    source: ControlRow,
    name: string,
  ): Promise<Cloned> {
    const store = createControlStore(scope);
    if ((await store.findByName(name)) !== null) throw controlNameConflict(name);
    const stored = readStoredDefinition(source.data, registry);
    if (!stored.ok) {
      const detail = `The stored definition of control ${source.id} cannot be read.`;
      throw controlCorrupted(detail, [CORRUPTED_ITEM], String(source.id));
    }
    demandInstalled(stored.stored, registry);
    const nowMs = now();
    const row = await store.insert({
      name,
      data: source.data,
      clonedFromId: source.id,
      ...definitionIndex(stored.stored),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    const note = `Cloned from control ${source.id}`;
    const change = { eventType: 'cloned', note, before: null, after: row } as const;
    return { row, version: await recordVersion(scope, context, change) };
  }

  return {
    /**
     * Throws CONTROL_NOT_FOUND, CONTROL_NAME_CONFLICT, CONTROL_BINDING_INCOMPATIBLE, CORRUPTED_DATA, IDEMPOTENCY_CONFLICT,
     * AUTH_INSUFFICIENT_PRIVILEGES without the scope bindings.write, or a VALIDATION_ERROR for members that are not read.
     */
    async cloneAndBind(context: HandlerCall, input: CloneRequest) {
      demandScope(context.principal, 'bindings.write');
      demandAllRead(context);
      const { control_id: sourceId, target_binding: wanted, idempotency_key: key, ...others } = input;
      const target: TargetName = { type: wanted.target_type, id: wanted.target_id };
      return mutate(context, async (scope) => {
        const made: { clone?: Cloned & { readonly binding: BindingRow } } = {};
        const call = {
          rpc: 'CloneAndBindControl',
          key,
          request: { control_id: sourceId, name: others.name ?? null, target_binding: wanted },
          nowMs: now(),
        };
        const { value } = await once(scope, call, async () => {
          const source = await existingControl(scope, sourceId);
          const clone = await cloned(scope, context, source, others.name ?? defaultName(source.name));
          demandBindable(clone.row, registry);
          const bindings = createControlBindingStore(scope);
          const binding = await bindings.insert(target, clone.row.id, wanted.enabled, now());
          made.clone = { ...clone, binding };
          const { id, name } = clone.row;
          return { id, name, cloned_from_control_id: source.id, binding_id: binding.id };
        });
        if (made.clone === undefined) return { value, change: null };
        const { row, version, binding } = made.clone;
        const audit = controlFact('control.clone_and_bind', row, null, {
          ...controlState(row, version),
          cloned_from_control_id: sourceId,
          binding: { id: binding.id, ...wanted },
        });
        const change = binding.enabled ? { targets: [targetKeyOf(scope, binding)] } : {};
        return { value, change, audit };
      });
    },
  };
}

/** Deployed clients expect that members which are not read are refused. */
function demandAllRead(context: HandlerCall): void {
  const items = context
    .ignoredParts()
    .map(
      ({ field, message }): ErrorItem => ({ resource: 'Request', field, code: 'extra_forbidden', message }),
    );
  if (items.length > 0) throw invalidRequest(items);
}

function defaultName(name: string): string {
  const suffix = `-clone-${randomBytes(DIGITS / 2).toString('hex')}`;
  return name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
}
