import { Link } from 'wouter';
import { UserText } from '../../ui/user-text.js';

const MAX_TEXT = 40;

/** Labels of agents, each of which leads to the agents with it. */
export function Labels({ labels }: { readonly labels: readonly string[] }) {
  return labels.map((label) => (
    <Link key={label} className="tag" href={`/agents?label=${encodeURIComponent(label)}`}>
      <UserText text={label} max={MAX_TEXT} />
    </Link>
  ));
}
