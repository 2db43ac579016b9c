import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import {
  ControlService,
  type ControlSummary,
  type ListControlsRequestSchema,
} from '@gen/enforcement/v1/control_service_pb.js';
import { transport } from '../../data/transport.js';
import { readAll } from '../../ui/list/read-all.js';

const client = createClient(ControlService, transport);
const PAGE_SIZE = 100;

/** The controls of an action: those at hand, or all that match filters, which are read when the action begins. */
export interface ChosenControls {
  readonly count: number;
  read(signal: AbortSignal, onProgress: (read: number) => void): Promise<readonly ControlSummary[]>;
}

export function controlsAtHand(controls: readonly ControlSummary[]): ChosenControls {
  return { count: controls.length, read: async () => controls };
}

/** All controls that match filters, but for those that are not chosen. */
export function matchingControls(
  filter: MessageInitShape<typeof ListControlsRequestSchema>,
  isChosen: (control: ControlSummary) => boolean,
  count: number,
): ChosenControls {
  return {
    count,
    async read(signal, onProgress) {
      const all = await readAll(
        (cursor) =>
          client.listControls(
            { ...filter, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) },
            { signal },
          ),
        ({ controls }) => controls,
        { signal, onProgress },
      );
      return all.filter(isChosen);
    },
  };
}
