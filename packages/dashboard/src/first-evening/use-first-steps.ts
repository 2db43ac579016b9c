import { useQuery } from '@connectrpc/connect-query';
import { AgentOrder, AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { useState } from 'react';
import { ownedItem } from '../ui/browser/owned-storage.js';

/** How often the page looks whether a step is done. */
const LOOK_MS = 2_000;
const REFRESH_MS = 15_000;
const dismissed = ownedItem('control-enforcement-first-steps-dismissed');
/** The agent that was evaluated last, and the number of all. */
export const LATEST_AGENT = { limit: 1, orderBy: AgentOrder.LAST_EVALUATED } as const;

/** The steps from an empty service to one that checks an agent. */
export interface FirstSteps {
  /** False until it is known that one is missing, and when the viewer needs no help. */
  readonly isShown: boolean;
  readonly hasAgent: boolean;
  readonly hasControl: boolean;
  readonly hasStep: boolean;
  /** Name of the latest agent. */
  readonly agentName: string | undefined;
  readonly dismiss: () => void;
}

/** Looks what is missing until nothing is. */
export function useFirstSteps(): FirstSteps {
  const [isDismissed, setDismissed] = useState(wasDismissed);
  const [isDone, setDone] = useState(false);
  const options = { refetchInterval: isDone || isDismissed ? REFRESH_MS : LOOK_MS };
  const agents = useQuery(AgentService.method.listAgents, LATEST_AGENT, options);
  const controls = useQuery(ControlService.method.listControls, { limit: 1 }, options);
  const [agent] = agents.data?.agents ?? [];
  const hasAgent = (agents.data?.pagination?.total ?? 0) > 0;
  const hasControl = (controls.data?.pagination?.total ?? 0) > 0;
  const isEvaluated = agent?.lastEvaluatedAt !== undefined || agent?.lastUsedAt !== undefined;
  // Agents that evaluate themselves report events: their steps are not counted by the service.
  const asksEvents = hasAgent && hasControl && !isEvaluated && !isDismissed && !isDone;
  const events = useQuery(
    ObservabilityService.method.getStatsOverview,
    { timeRange: '30d', limit: 1 },
    { refetchInterval: LOOK_MS, enabled: asksEvents },
  );
  const hasStep = isEvaluated || (events.data?.totals?.executionTotal ?? 0n) > 0n;
  const isKnown =
    agents.data !== undefined &&
    controls.data !== undefined &&
    (!asksEvents || events.data !== undefined || events.isError);
  const isComplete = hasAgent && hasControl && hasStep;
  if (isKnown && isComplete && !isDone) setDone(true);
  return {
    isShown: isKnown && !isComplete && !isDone && !isDismissed,
    hasAgent,
    hasControl,
    hasStep,
    agentName: agent?.agentName,
    dismiss() {
      setDismissed(true);
      try {
        dismissed.write('true');
      } catch {
        // It is asked again with the next page.
      }
    },
  };
}

function wasDismissed(): boolean {
  try {
    return dismissed.read() !== null;
  } catch {
    return false;
  }
}
