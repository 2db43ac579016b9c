import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { PackChange, type PackControlComparison } from '@gen/enforcement/v1/pack_service_pb.js';
import { JsonDifference } from '../code/json-difference.js';
import { memberChanges } from '../control-parts/definition-changes.js';
import { definitionJson, definitionValue } from '../control-parts/definition-json.js';
import { ChangeLines } from '../controls/versions/change-list.js';
import { Disclosure } from '../ui/disclosure.js';
import { NameLink } from '../ui/name-link.js';

/** What an update does to a control, in words. */
const CHANGES: Readonly<Record<PackChange, string>> = {
  [PackChange.UNSPECIFIED]: '',
  [PackChange.NONE]: 'no change',
  [PackChange.UPDATE]: 'is updated',
  [PackChange.CONFLICT]: 'conflict: changed here and in the pack',
  [PackChange.ADD]: 'is added',
  [PackChange.REMOVE]: 'leaves the policy: the pack has it no more',
  [PackChange.ABSENT]: 'is not here: deleted, or not chosen',
};
const SIGNS: Readonly<Partial<Record<PackChange, string>>> = {
  [PackChange.CONFLICT]: 'badge steer',
  [PackChange.UPDATE]: 'badge observe',
  [PackChange.ADD]: 'badge safe',
  [PackChange.REMOVE]: 'badge deny',
};

interface ComparedControlProps {
  readonly control: PackControlComparison;
  /** Whether what was changed here is given up. */
  readonly isOverwritten: boolean;
  /** Undefined: there is nothing to choose. */
  readonly onOverwrite: ((isChosen: boolean) => void) | undefined;
}

/** A control of an installation: which members were changed here and in the pack, and what an update makes of it. */
export function ComparedControl({ control, isOverwritten, onOverwrite }: ComparedControlProps) {
  const { key, change, controlId, controlName, changedHere, changedInPack, current, inPack } = control;
  const after = isOverwritten ? inPack : control.afterUpdate;
  return (
    <>
      <div className="trace-head">
        <strong>
          {controlId === undefined ? (
            <code>{key}</code>
          ) : (
            <NameLink href={`/controls/${controlId}`} name={controlName ?? key} />
          )}
        </strong>
        <span className={SIGNS[change] ?? 'muted'}>{CHANGES[change]}</span>
        <Members title="Changed here" names={changedHere} />
        <Members title="Changed in the pack" names={changedInPack} />
      </div>
      {onOverwrite !== undefined && (
        <label className="check-field">
          <input
            type="checkbox"
            checked={isOverwritten}
            onChange={(event) => onOverwrite(event.target.checked)}
          />
          Take the definition of the pack for {controlName ?? key}; what was changed here is lost
        </label>
      )}
      {current !== undefined && after !== undefined && (
        <Difference
          title="What an update changes"
          labels={['As it is', 'After the update']}
          before={current}
          after={after}
        />
      )}
      {current !== undefined && inPack !== undefined && changedHere.length > 0 && (
        <Difference
          title="How it differs from the pack"
          labels={['As it is', 'In the pack']}
          before={current}
          after={inPack}
        />
      )}
    </>
  );
}

function Members({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <span className="muted">
      {title}: {names.join(', ')}
    </span>
  );
}

interface DifferenceProps {
  readonly title: string;
  readonly labels: readonly [before: string, after: string];
  readonly before: ControlDefinition;
  readonly after: ControlDefinition;
}

function Difference({ title, labels, before, after }: DifferenceProps) {
  const changes = memberChanges(definitionValue(before), definitionValue(after));
  if (changes.length === 0) return null;
  return (
    <>
      <p className="muted">{title}:</p>
      <ChangeLines changes={changes} label={title} />
      <Disclosure summary="Both as JSON">
        <JsonDifference before={definitionJson(before)} after={definitionJson(after)} labels={labels} />
      </Disclosure>
    </>
  );
}
