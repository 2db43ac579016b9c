import { createClient } from '@connectrpc/connect';
import { useEffect, useState } from 'react';
import {
  type AgentControl,
  AgentService,
  type WatchControlsResponse,
} from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { transport } from '../api/transport.js';
import { retryDelayMs, waitFor } from '../shared/retry.js';
import { useVisible } from '../shared/use-visible.js';

/** The controls of an agent, kept current by the server while the tab is visible. */
export interface WatchedControls {
  /** Undefined until all of them are known. */
  readonly controls: readonly AgentControl[] | undefined;
  readonly isConnected: boolean;
  readonly error: unknown;
}

const NOTHING: WatchedControls = { controls: undefined, isConnected: false, error: undefined };
const agents = createClient(AgentService, transport);

export function useWatchedControls(agentName: string): WatchedControls {
  const isVisible = useVisible();
  const [watched, setWatched] = useState(NOTHING);
  useEffect(() => {
    if (!isVisible) return;
    const stop = new AbortController();
    void watch(agentName, stop.signal, setWatched);
    return () => stop.abort();
  }, [agentName, isVisible]);
  return watched;
}

async function watch(
  agentName: string,
  signal: AbortSignal,
  report: (change: (before: WatchedControls) => WatchedControls) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let error: unknown;
    try {
      const known = new Map<number, AgentControl>();
      for await (const message of agents.watchControls({ agentName }, { signal })) {
        failures = 0;
        apply(message, known);
        if (message.incomplete) continue;
        const controls = [...known.values()].sort((a, b) => b.id - a.id);
        report(() => ({ controls, isConnected: true, error: undefined }));
      }
    } catch (failure) {
      error = failure;
    }
    if (signal.aborted) return;
    report((before) => ({ ...before, isConnected: false, error }));
    await waitFor(retryDelayMs(failures), signal);
  }
}

function apply({ news }: WatchControlsResponse, known: Map<number, AgentControl>): void {
  if (news.case === 'full') {
    known.clear();
    for (const control of news.value.controls) known.set(control.id, control);
  } else if (news.case === 'changed') {
    for (const id of news.value.removed) known.delete(id);
    for (const control of news.value.upserted) known.set(control.id, control);
  }
}
