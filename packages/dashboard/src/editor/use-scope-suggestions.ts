import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useMemo } from 'react';
import { useKnownSteps } from '../selector/use-known-paths.js';

const CONTROLS = 100;
const STALE_MS = 60_000;

/** What can stand in the scope and the tags of a control, as far as agents and other controls have it. */
export interface ScopeSuggestions {
  readonly stepTypes: readonly string[];
  readonly stepNames: readonly string[];
  readonly tags: readonly string[];
}

/** Steps are those of the agent, or without one of the agents that registered last. */
export function useScopeSuggestions(agentName: string): ScopeSuggestions {
  const steps = useKnownSteps(agentName, true);
  const { data } = useQuery(ControlService.method.listControls, { limit: CONTROLS }, { staleTime: STALE_MS });
  return useMemo(
    () => ({
      stepTypes: distinct(steps.map(({ type }) => type ?? '')),
      stepNames: distinct(steps.map(({ name }) => name ?? '')),
      tags: distinct((data?.controls ?? []).flatMap(({ tags }) => tags)),
    }),
    [steps, data],
  );
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text !== '').toSorted();
}
