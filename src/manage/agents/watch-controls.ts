import type { CallContext } from '../../contract/call/handler.js';
import { createPause, HEARTBEAT_MS } from '../../contract/call/news-pause.js';
import { readAgentName } from '../../contract/input/names.js';
import { targetNamed } from '../../contract/input/target.js';
import type { AgentInputs } from './agent-schemas.js';
import type { AskedForControls } from './asked-for-controls.js';
import type { ControlFeed } from './control-feed.js';
import { PartReader } from './part-reader.js';
import type { WatchedAgent } from './watched-agent.js';

export interface WatchOptions {
  readonly feed: ControlFeed;
  readonly asked: Pick<AskedForControls, 'note'>;
  /** Milliseconds of the clock of the feed. */
  readonly now: () => number;
  /** Largest message that the server can send, in bytes. */
  readonly maxMessageBytes: number;
  readonly heartbeatMs?: number;
}

/** Largest message for clients that do not say what they can receive: most accept 4 MiB. */
const USUAL_MESSAGE_BYTES = 3 * 1024 * 1024;
/** What a message has besides its controls, with some reserve. */
const MESSAGE_OVERHEAD = 16 * 1024;

/** Implements WatchControls: sends the controls of an agent, and then their changes. */
export type WatchControls = (
  input: AgentInputs['watchControls'],
  context: Pick<CallContext, 'signal' | 'principal'>,
) => AsyncGenerator<object>;

/** Creates streams of the controls of agents. The only state of a stream is the position last sent. */
export function createWatchControls(options: WatchOptions): WatchControls {
  const { feed, asked, now, heartbeatMs = HEARTBEAT_MS } = options;
  return async function* watch(input, { signal, principal }) {
    const from = input.from_revision;
    const key = principal.namespace.agentKey(readAgentName(input.agent_name, 'agent_name'));
    const named = targetNamed(input);
    const target = named === null ? null : principal.namespace.targetKey(named);
    const { agent, isCurrent } = await feed.join(key, from ?? 0, target);
    asked.note(agent.key);
    const asks = input.max_message_bytes ?? USUAL_MESSAGE_BYTES;
    const maxBytes = Math.min(asks, options.maxMessageBytes) - MESSAGE_OVERHEAD;
    const reader = new PartReader(agent, isCurrent, maxBytes);
    const pause = createPause(agent, signal);
    try {
      if (isCurrent) yield heartbeat(agent, now());
      while (!signal.aborted) {
        if (agent.failure !== null) throw agent.failure;
        const message = reader.next();
        if (message !== null) yield message;
        else if (await pause.next(heartbeatMs)) yield reader.unfinished() ?? heartbeat(agent, now());
      }
    } finally {
      pause.end();
      feed.leave(agent);
    }
  };
}

function heartbeat(agent: WatchedAgent, nowMs: number): object {
  const staleMs = Math.max(0, Math.round(nowMs - agent.currentAtMs));
  return { revision: agent.revision, current: { staleness_seconds: staleMs / 1000 } };
}
