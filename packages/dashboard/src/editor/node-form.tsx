import { type Dispatch, memo } from 'react';
import { CheckForm } from './check-form.js';
import { CompositeForm } from './composite-form.js';
import { kindOf, nodeAt } from './condition-tree.js';
import { ControlForm } from './control-form.js';
import { draftMessage } from './draft-message.js';
import { conditionOf, type EditorAction, type EditorState } from './editor-state.js';
import type { ProblemIndex } from './problem-index.js';
import { rowKey } from './tree-rows.js';
import { useEvaluators } from './use-evaluators.js';
import { useTreeEdits } from './use-tree-edits.js';

interface NodeFormProps {
  readonly state: EditorState;
  readonly dispatch: Dispatch<EditorAction>;
  readonly problems: ProblemIndex;
  readonly agentName: string;
}

/** The form of the selected node, or of the control itself. */
export const NodeForm = memo(function NodeForm({ state, dispatch, problems, agentName }: NodeFormProps) {
  const known = useEvaluators(agentName.trim());
  const edits = useTreeEdits(state, dispatch);
  const { draft, selected } = state;
  if (selected === null)
    return (
      <ControlForm state={state} dispatch={dispatch} problems={problems.control} agentName={agentName} />
    );
  const node = nodeAt(conditionOf(draft), selected);
  const key = rowKey(node, selected);
  const ofNode = problems.nodes.get(key) ?? [];
  if (kindOf(node) !== 'check') {
    return (
      <CompositeForm
        key={key}
        node={node}
        problems={ofNode}
        edits={edits}
        onReplace={(next) => dispatch({ type: 'set-node', path: selected, node: next, merge: 'replace' })}
      />
    );
  }
  return (
    <CheckForm
      key={key}
      node={node}
      problems={ofNode}
      known={known}
      agentName={agentName.trim()}
      scope={draftMessage(draft).message.scope}
      onChange={(next, part) => dispatch({ type: 'set-node', path: selected, node: next, merge: part })}
    />
  );
});
