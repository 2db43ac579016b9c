import { numberOf } from '../ui/numbers.js';
import { type CompositeKind, type ConditionNode, childrenOf, kindOf, newCheck } from './condition-tree.js';
import { OneOfField, ProblemTexts } from './form-fields.js';
import type { PlacedProblem } from './problem-place.js';
import type { TreeEdits } from './use-tree-edits.js';

const KINDS = [
  ['and', 'AND', 'every condition below must match'],
  ['or', 'OR', 'one condition below must match'],
  ['not', 'NOT', 'the condition below must not match'],
] as const;

interface CompositeFormProps {
  readonly node: ConditionNode;
  readonly problems: readonly PlacedProblem[];
  readonly edits: TreeEdits;
  /** Replaces the node. */
  readonly onReplace: (node: ConditionNode) => void;
}

/** A node with conditions below it, or one without a form. */
export function CompositeForm({ node, problems, edits, onReplace }: CompositeFormProps) {
  const kind = kindOf(node);
  if (kind === 'unknown') {
    return (
      <div className="editor-form">
        <p>
          This node is neither a check (a selector with an evaluator) nor AND, OR or NOT, or is several of
          them at the same time. Mend it as JSON, or start again.
        </p>
        <ProblemTexts problems={problems} />
        <button type="button" onClick={() => onReplace(newCheck())}>
          Replace by an empty check
        </button>
      </div>
    );
  }
  const count = childrenOf(node).length;
  return (
    <div className="editor-form">
      <OneOfField<CompositeKind>
        legend="Kind"
        value={kind}
        choices={KINDS}
        problems={problems}
        onChange={edits.changeKind}
      />
      <p className="muted">{numberOf(count, 'condition')} below, evaluated in this order.</p>
      <button type="button" onClick={() => edits.add('check')}>
        {kind === 'not' && count > 0 ? 'Add a check beside it' : 'Add a check below'}
      </button>
    </div>
  );
}
