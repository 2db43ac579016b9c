import type { MessageInitShape } from '@bufbuild/protobuf';
import { ControlOrder, type ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import type { Sort } from '../ui/table/use-sort.js';

/** Orders of controls by their names in the address. */
const ORDERS: Readonly<Record<string, ControlOrder>> = {
  name: ControlOrder.NAME,
  updated: ControlOrder.UPDATED,
  last_denied: ControlOrder.LAST_DENIED,
  agents: ControlOrder.AGENTS,
};

export const CONTROL_ORDERS: readonly string[] = Object.keys(ORDERS);

/** The part of a request that orders the controls; nothing for the order of the server. */
export function controlOrder({
  by,
  isReversed,
}: Pick<Sort, 'by' | 'isReversed'>): MessageInitShape<typeof ListControlsRequestSchema> {
  const orderBy = ORDERS[by];
  return orderBy === undefined ? {} : { orderBy, ...(isReversed ? { reverse: true } : {}) };
}
