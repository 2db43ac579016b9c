import { isDraft } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { runInTurns } from '../decisions/in-turns.js';
import { controlGap } from './evaluator-gap.js';
import type { ProblemStore } from './problem-store.js';

/** Why the definition of an enabled control ends in errors. */
export interface DefinitionFault {
  readonly id: number;
  readonly name: string;
  readonly kind: 'evaluator_not_configured' | 'control_unreadable';
  readonly detail: string;
  /** Whether its errors deny steps. */
  readonly denies: boolean;
}

/** Definitions read by one query, so that those of thousands of controls are never in memory together. */
const READ_AT_ONCE = 200;
/** After this time all definitions are read again, in milliseconds: data can be damaged without a change of a control. */
const READ_ALL_MS = 10 * 60_000;

type Finding = Omit<DefinitionFault, 'id' | 'name'> | null;

/** Finds the faults of definitions. Each definition is read when it has changed, and otherwise every ten minutes. */
export function createDefinitionFaults(options: {
  readonly store: Pick<ProblemStore, 'controls' | 'definitions'>;
  readonly registry: EvaluatorRegistry;
  readonly monotonic: () => number;
}) {
  const { store, registry, monotonic } = options;
  const known = new Map<number, { readonly version: string; readonly finding: Finding }>();
  let allReadAtMs = Number.NEGATIVE_INFINITY;

  return async function faults(): Promise<DefinitionFault[]> {
    if (monotonic() - allReadAtMs > READ_ALL_MS) {
      known.clear();
      allReadAtMs = monotonic();
    }
    const controls = await store.controls();
    const present = new Map(controls.map((control) => [control.id, control]));
    for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    const changed = controls.filter(({ id, version }) => known.get(id)?.version !== version);
    for (let from = 0; from < changed.length; from += READ_AT_ONCE) {
      const part = changed.slice(from, from + READ_AT_ONCE);
      const read = await store.definitions(part.map(({ id }) => id));
      await runInTurns(learn(read));
    }
    return controls.flatMap(({ id, name }) => {
      const finding = known.get(id)?.finding ?? null;
      return finding === null ? [] : [{ id, name, ...finding }];
    });

    function* learn(texts: ReadonlyMap<number, string>): Generator<void, void> {
      for (const [id, text] of texts) {
        known.set(id, { version: present.get(id)?.version ?? '', finding: findingOf(text, registry) });
        yield;
      }
    }
  };
}

/** What is wrong with a stored definition. */
export function findingOf(text: string, registry: EvaluatorRegistry): Finding {
  const reading = readStoredDefinition(text, registry);
  if (!reading.ok) {
    const [item] = reading.items;
    const place = item?.field === undefined ? '' : `${item.field}: `;
    // What it decides cannot be read either, and the service treats it as a control that denies.
    return { kind: 'control_unreadable', detail: `${place}${item?.message ?? 'damaged'}`, denies: true };
  }
  const { stored } = reading;
  const gap = controlGap(stored, registry);
  if (gap === undefined || isDraft(stored)) return null;
  return { kind: 'evaluator_not_configured', detail: gap, denies: stored.action.decision === 'deny' };
}
