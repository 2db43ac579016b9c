import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Policy } from '@gen/enforcement/v1/policy_service_pb.js';
import type { Sort } from '../ui/table/use-sort.js';

type Compare = (one: Policy, other: Policy) => number;

const byName: Compare = (one, other) => one.name.localeCompare(other.name);
const changedAt = ({ updateTime }: Policy) => (updateTime === undefined ? 0 : timestampMs(updateTime));

/** Orders of policies by their names in the address, each in the direction in which it is selected first. */
const ORDERS: Readonly<Record<string, Compare>> = {
  name: byName,
  controls: (one, other) => other.controlIds.length - one.controlIds.length,
  agents: (one, other) => other.agentCount - one.agentCount,
  updated: (one, other) => changedAt(other) - changedAt(one),
};

export const POLICY_ORDERS: readonly string[] = Object.keys(ORDERS);

/** The policies in an order; equal ones by name. Without an order they stay as they are. */
export function inPolicyOrder(
  policies: readonly Policy[],
  { by, isReversed }: Pick<Sort, 'by' | 'isReversed'>,
): readonly Policy[] {
  const compare = ORDERS[by];
  if (compare === undefined) return policies;
  const sign = isReversed ? -1 : 1;
  return [...policies].sort((one, other) => sign * compare(one, other) || byName(one, other));
}
