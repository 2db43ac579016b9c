import type { MessageInitShape } from '@bufbuild/protobuf';
import { AgentOrder, type ListAgentsRequestSchema } from '@gen/enforcement/v1/agent_service_pb.js';
import { CONTROL_MEMBER, LABEL_MEMBER, POLICY_MEMBER } from '../references/query-members.js';
import { onlyValueOf, type QueryMember, type QueryTerm, valuesOf } from '../ui/query-bar/query-member.js';
import type { Sort } from '../ui/table/use-sort.js';

type Request = MessageInitShape<typeof ListAgentsRequestSchema>;
/** Which agents are listed, and in which order, without the place in their list. */
export type AgentFilter = Omit<Request, '$typeName' | 'limit' | 'cursor'>;

/** What agents are listed by. */
export const AGENT_MEMBERS: readonly QueryMember[] = [
  { name: 'name', hint: 'part of the name' },
  LABEL_MEMBER,
  { ...POLICY_MEMBER, isMultiple: false },
  { ...CONTROL_MEMBER, isMultiple: false },
  {
    name: 'controls',
    hint: 'whether any control is in effect',
    values: [
      { value: 'none', hint: 'without any control in effect' },
      { value: 'some', hint: 'with at least one control in effect' },
    ],
  },
];

const ORDERS: Readonly<Record<string, AgentOrder>> = {
  name: AgentOrder.NAME,
  last_evaluated: AgentOrder.LAST_EVALUATED,
  last_denied: AgentOrder.LAST_DENIED,
};
export const AGENT_ORDERS = Object.keys(ORDERS);

/** The request for the agents that terms select. */
export function agentFilter(terms: readonly QueryTerm[]): AgentFilter {
  const name = onlyValueOf(terms, 'name');
  const policy = onlyValueOf(terms, 'policy');
  const control = onlyValueOf(terms, 'control');
  const controls = onlyValueOf(terms, 'controls');
  return {
    labels: [...valuesOf(terms, 'label')],
    ...(name === undefined ? {} : { name }),
    ...(policy === undefined ? {} : { policyId: Number(policy) }),
    ...(control === undefined ? {} : { controlId: Number(control) }),
    ...(controls === undefined ? {} : { hasActiveControls: controls === 'some' }),
  };
}

/** The order that the heads of the list select. */
export function agentOrder({ by, isReversed }: Sort): Pick<AgentFilter, 'orderBy' | 'reverse'> {
  const orderBy = ORDERS[by];
  return orderBy === undefined ? {} : { orderBy, reverse: isReversed };
}
