import { type Halt, HaltScope, HaltState } from '@gen/enforcement/v1/halt_service_pb.js';

type Part = Pick<Halt, 'scope' | 'agentName' | 'sessionId' | 'stepName'>;

/** What a halt denies, for people. */
export function haltedPart({ scope, agentName, sessionId, stepName }: Part): string {
  const ofAgent = agentName === undefined ? '' : ` of agent ${agentName}`;
  switch (scope) {
    case HaltScope.AGENT:
      return `agent ${agentName}`;
    case HaltScope.SESSION:
      return `session ${sessionId}${ofAgent}`;
    case HaltScope.STEP_NAME:
      return `steps ${stepName}${ofAgent}`;
    case HaltScope.NAMESPACE:
      return 'the namespace';
    case HaltScope.INSTALLATION:
      return 'the installation';
    default:
      return 'something that this version of the dashboard does not know';
  }
}

/** The name of each state, and the class of its badge. */
const STATES: Readonly<Partial<Record<HaltState, readonly [name: string, badge: string]>>> = {
  [HaltState.ACTIVE]: ['in force', 'deny'],
  [HaltState.LIFTED]: ['lifted', ''],
  [HaltState.EXPIRED]: ['expired', ''],
};

export function stateOf({ state }: Pick<Halt, 'state'>): readonly [name: string, badge: string] {
  return STATES[state] ?? ['unknown', ''];
}

/** When a halt ends by itself, in minutes from now; an empty text for never. */
export const ENDS = [
  ['', 'when it is lifted'],
  ['15', 'in 15 minutes'],
  ['60', 'in an hour'],
  ['1440', 'in a day'],
  ['10080', 'in 7 days'],
] as const;
