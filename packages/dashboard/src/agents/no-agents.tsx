import { RegisterSnippets } from '../first-evening/teaching-snippets.js';
import { onlyValueOf, type QueryTerm } from '../ui/query-bar/query-member.js';
import { Empty } from '../ui/states.js';

interface NoAgentsProps {
  /** The filters of the list. */
  readonly terms: readonly QueryTerm[];
}

/** Why a list of agents is empty. */
export function NoAgents({ terms }: NoAgentsProps) {
  const controls = onlyValueOf(terms, 'controls');
  if (terms.length > (controls === undefined ? 0 : 1)) return <Empty title="No agent matches the filters" />;
  if (controls === 'none') {
    return (
      <Empty title="Every agent is covered">
        <p>Each has at least one control that is switched on, linked to it or in one of its policies.</p>
      </Empty>
    );
  }
  if (controls === 'some') {
    return (
      <Empty title="No agent has a control">
        <p>Every step is allowed until a control is linked to its agent, or is in one of its policies.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No agents yet">
      <p>An agent is a program whose steps are checked. It registers itself before its first step:</p>
      <RegisterSnippets />
    </Empty>
  );
}
