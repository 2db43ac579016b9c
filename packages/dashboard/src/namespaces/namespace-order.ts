import type { Namespace } from '@gen/enforcement/v1/namespace_service_pb.js';
import type { Sort } from '../ui/table/use-sort.js';

type Compare = (one: Namespace, other: Namespace) => number;

const byName: Compare = (one, other) => one.name.localeCompare(other.name);
const createdAt = ({ createdAt: time }: Namespace) => (time === undefined ? 0 : Date.parse(time));

/** Orders of namespaces by their names in the address, each in the direction in which it is selected first. */
const ORDERS: Readonly<Record<string, Compare>> = {
  name: byName,
  agents: (one, other) => other.agentCount - one.agentCount,
  controls: (one, other) => other.controlCount - one.controlCount,
  keys: (one, other) => other.keyCount - one.keyCount,
  created: (one, other) => createdAt(other) - createdAt(one),
};

export const NAMESPACE_ORDERS: readonly string[] = Object.keys(ORDERS);

/** The namespaces in an order; equal ones by name. Without an order they stay as they are. */
export function inNamespaceOrder(
  namespaces: readonly Namespace[],
  { by, isReversed }: Pick<Sort, 'by' | 'isReversed'>,
): readonly Namespace[] {
  const compare = ORDERS[by];
  if (compare === undefined) return namespaces;
  const sign = isReversed ? -1 : 1;
  return [...namespaces].sort((one, other) => sign * compare(one, other) || byName(one, other));
}
