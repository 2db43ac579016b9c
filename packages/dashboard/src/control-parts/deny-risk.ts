import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, ownMember } from '../code/json-members.js';

/** Why a change of a control can deny steps that were not denied before. */
export type DenyRisk = 'new' | 'observe' | 'steer' | 'off' | 'scope';

/** What a change makes possible, in words; they follow the name of the control. */
export const RISK_TEXTS: Readonly<Record<DenyRisk, string>> = {
  new: 'denies what it matches from the moment it is saved.',
  observe: 'only records its matches now. From the moment it is saved, it denies them.',
  steer: 'sends steps back with guidance now. From the moment it is saved, it denies them.',
  off: 'is off now. From the moment it is saved, it denies what it matches.',
  scope: 'denies what it matches, and from the moment it is saved, it checks more steps than before.',
};

/** Definitions are in the form of the JSON routes; `before` is null for a new control. Null: nothing to ask about. */
export function denyRisk(before: JsonObject | null, after: JsonObject): DenyRisk | null {
  if (!isOn(after) || decisionOf(after) !== 'deny') return null;
  if (before === null) return 'new';
  const decision = decisionOf(before);
  if (decision === 'observe' || decision === 'steer') return decision;
  if (decision !== 'deny') return 'new';
  if (!isOn(before)) return 'off';
  return isWider(before.scope, after.scope) ? 'scope' : null;
}

function isOn(definition: JsonObject): boolean {
  return definition.enabled !== false;
}

function decisionOf({ action }: JsonObject): JsonValue | undefined {
  return isJsonObject(action) ? ownMember(action, 'decision') : undefined;
}

/** Whether a scope may let steps in that the other one leaves out. */
function isWider(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  const [old, next] = [scopeOf(before), scopeOf(after)];
  return (
    isLooser(old.types, next.types) || isLooser(old.stages, next.stages) || isLooser(old.names, next.names)
  );
}

/** The restrictions of a scope. An empty list restricts nothing. */
function scopeOf(scope: JsonValue | undefined) {
  const member = (name: string) => (isJsonObject(scope) ? ownMember(scope, name) : undefined);
  const list = (name: string) => textsOf(member(name));
  const pattern = member('step_name_regex');
  return {
    types: list('step_types'),
    stages: list('stages'),
    // A step passes by its name or by the pattern.
    names: [
      ...list('step_names'),
      ...(typeof pattern === 'string' && pattern !== '' ? [`/${pattern}/`] : []),
    ],
  };
}

function isLooser(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false;
  return after.length === 0 || after.some((item) => !before.includes(item));
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
