import { RegisterSnippets } from '../first-evening/teaching-snippets.js';
import { Empty } from '../ui/states.js';

interface NoAgentsProps {
  readonly name: string;
  /** The filter by controls: `none`, `some` or empty. */
  readonly controls: string;
}

/** Why a list of agents is empty. */
export function NoAgents({ name, controls }: NoAgentsProps) {
  if (name !== '') return <Empty title="No agent has such a name" />;
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
