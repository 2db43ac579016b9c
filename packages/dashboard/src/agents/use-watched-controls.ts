import { create, toBinary } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { type AgentControl, WatchControlsRequestSchema } from '@gen/enforcement/v1/agent_service_pb.js';
import { useEffect, useRef, useState } from 'react';
import { CONTROLS } from '../streams/sources.js';
import { listen } from '../streams/streams.js';
import { useVisible } from '../ui/browser/use-visible.js';
import { ControlsOfAgent } from './controls-of-agent.js';

/** The controls of an agent, kept current by the server while the tab is visible. */
export interface WatchedControls {
  /** Undefined until all of them are known. */
  readonly controls: readonly AgentControl[] | undefined;
  readonly isConnected: boolean;
  readonly error: unknown;
}

const NOTHING: WatchedControls = { controls: undefined, isConnected: false, error: undefined };

export function useWatchedControls(agentName: string): WatchedControls {
  const isVisible = useVisible();
  const [watched, setWatched] = useState(NOTHING);
  const known = useRef<{ agentName: string; state: ControlsOfAgent }>(undefined);
  useEffect(() => {
    if (!isVisible) return;
    if (known.current?.agentName !== agentName) {
      known.current = { agentName, state: new ControlsOfAgent() };
      setWatched(NOTHING);
    }
    const { state } = known.current;
    const show = () => setWatched({ controls: state.controls, isConnected: true, error: undefined });
    const request = toBinary(WatchControlsRequestSchema, create(WatchControlsRequestSchema, { agentName }));
    return listen(
      { source: CONTROLS, request },
      {
        position: () => state.revision,
        onAttached: (_position, isLive) => {
          state.restart();
          if (isLive && state.controls !== undefined) show();
        },
        onMessage: (bytes) => {
          if (state.apply(bytes)) show();
        },
        onLost: ({ message, code }) =>
          setWatched((before) => ({ ...before, isConnected: false, error: new ConnectError(message, code) })),
      },
    );
  }, [agentName, isVisible]);
  return watched;
}
