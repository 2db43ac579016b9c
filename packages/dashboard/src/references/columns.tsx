import { useIsLimited, useMay } from '../session/session-context.js';
import { NameLink } from '../ui/name-link.js';
import type { Column } from '../ui/table/columns.js';
import { UserText } from '../ui/user-text.js';
import { agentAddress } from './agent-address.js';

export { agentAddress } from './agent-address.js';

export const AGENT_COLUMN: Column<{ readonly agentName: string }> = {
  head: 'Agent',
  cell: ({ agentName }) => <NameLink href={agentAddress(agentName)} name={agentName} />,
};

export const CONTROL_COLUMN: Column<{ readonly id: number; readonly name: string }> = {
  head: 'Control',
  cell: ({ id, name }) => <ControlName id={id} name={name} />,
};

/** The name of a control, which leads to its page for those who may see it. */
export function ControlName({ id, name }: { readonly id: number; readonly name: string }) {
  const mayRead = useMay('controls.read');
  const isLimited = useIsLimited();
  if (!mayRead || isLimited) return <UserText text={name} />;
  return <NameLink href={`/controls/${id}`} name={name} />;
}

export const POLICY_COLUMN: Column<{ readonly id: number; readonly name: string }> = {
  head: 'Policy',
  cell: ({ id, name }) => <NameLink href={`/policies/${id}`} name={name} />,
};
