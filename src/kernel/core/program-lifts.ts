import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { describeThrown } from './failure.js';
import type { ChangedStep, LiftableControl, Lifts, PreparedLift, UnchangeableStep } from './lift.js';
import { type LinkableControl, positiveLeaves } from './linked-control.js';
import { createLocator, type LocatorOptions } from './match-places.js';
import { type ChangeKeys, changeKeys, dataAt, mapStrings, patchBetween, withDataAt } from './step-change.js';
import { type Replacement, replaceSpans } from './text-spans.js';
import type { ProgramLifts, Step, Verdict } from './types.js';

/** Most code units that the texts of a step may gain together by replacements. */
const MAX_GROWTH = 1_000_000;

type LiftableLink = LinkableControl & { readonly prepared: { readonly lift: PreparedLift } };

/** Where a control replaces parts of texts, by the path of the text. */
type Places = ReadonlyMap<
  string,
  { readonly keys: readonly string[]; readonly parts: readonly Replacement[] }
>;

/** Null for controls none of which is liftable. */
export function createProgramLifts(
  controls: readonly LinkableControl[],
  options: LocatorOptions,
): ProgramLifts | null {
  const liftable = controls.filter((one): one is LiftableLink => one.prepared.lift !== null);
  if (liftable.length === 0) return null;
  const links = new Map(liftable.map((one) => [one.id, one]));
  const told = new Map(
    liftable.map(({ id, name, prepared: { lift } }): [number, LiftableControl] => [
      id,
      { id, name, definitionHash: lift.definitionHash, approval: lift.approval },
    ]),
  );

  return {
    of: (verdict) => liftsOf(verdict, told),
    async change(step, _stage, changing, caller) {
      try {
        return await changed(
          step,
          changing.map(({ id, name }) => {
            const control = links.get(id);
            if (control === undefined) throw new Error(`control "${name}" changes no steps`);
            return control;
          }),
          { ...options, signal: caller?.signal ?? new AbortController().signal },
        );
      } catch (thrown) {
        return { problem: describeThrown(thrown) };
      }
    },
  };
}

function liftsOf(verdict: Verdict, liftable: ReadonlyMap<number, LiftableControl>): Lifts | null {
  const { is_safe: isSafe, matches, errors } = verdict;
  if (isSafe || errors.some(({ action }) => action === 'deny')) return null;
  const causes: LiftableControl[] = [];
  for (const { action, control_id: id } of matches) {
    if (action === 'observe') continue;
    const control = liftable.get(id);
    if (control === undefined) return null;
    causes.push(control);
  }
  if (causes.length === 0) return null;
  causes.sort((left, right) => left.id - right.id);
  return {
    asking: causes.filter(({ approval }) => approval !== null),
    changing: causes.filter(({ approval }) => approval === null),
  };
}

/**
 * All places are found in the step as it was, so that no control sees what another has replaced; then texts change, and last
 * whole values, in the order of the controls.
 */
async function changed(
  step: Step,
  controls: readonly LiftableLink[],
  options: LocatorOptions & { readonly signal: AbortSignal },
): Promise<ChangedStep | UnchangeableStep> {
  const locator = createLocator(options);
  const byText = new Map<string, { keys: readonly string[]; parts: Replacement[] }>();
  for (const { name, prepared } of controls) {
    const leaves = positiveLeaves({ prepared });
    let hasEffect = false;
    for (const change of prepared.lift.changes) {
      const keys = changeKeys(change.path);
      if ('remove' in change || change.replace === 'value') {
        const data = dataAt(step, keys);
        hasEffect ||= data !== undefined && ('remove' in change || data !== change.with);
        continue;
      }
      for (const { keys: at, text, spans } of await locator.find(step, keys, leaves)) {
        const parts = spans.map((span): Replacement => ({ ...span, with: change.with }));
        hasEffect ||= replaceSpans(text, parts) !== text;
        const place = JSON.stringify(at);
        const known = byText.get(place);
        if (known === undefined) byText.set(place, { keys: at, parts });
        else known.parts.push(...parts);
      }
    }
    if (!hasEffect)
      return { problem: `control "${name}" matched, but there is nothing in the step that it changes` };
  }
  let after = withReplaced(step, byText);
  for (const { prepared } of controls) {
    for (const change of prepared.lift.changes) {
      if ('remove' in change) after = withDataAt(after, changeKeys(change.path), undefined);
      else if (change.replace === 'value') after = withDataAt(after, changeKeys(change.path), change.with);
    }
  }
  const patch = patchBetween(step, after);
  return patch.length === 0
    ? { problem: 'the changes of the controls leave the step as it is' }
    : { step: after, patch };
}

function withReplaced(step: Step, byText: Places): Step {
  let growth = 0;
  const replace = (text: string, keys: readonly string[]): string => {
    const parts = byText.get(JSON.stringify(keys))?.parts;
    if (parts === undefined) return text;
    for (const { start, end, with: replacement } of parts)
      growth += Math.max(0, replacement.length - (end - start));
    if (growth > MAX_GROWTH)
      throw new Error(`the changes would add more than ${MAX_GROWTH} characters to the step`);
    return replaceSpans(text, parts);
  };
  let after = step;
  for (const root of new Set([...byText.values()].map(({ keys }) => keys[0]))) {
    const keys = [root] as unknown as ChangeKeys;
    const data: JsonValue = dataAt(step, keys) ?? null;
    after = withDataAt(after, keys, mapStrings(data, replace, keys));
  }
  return after;
}
