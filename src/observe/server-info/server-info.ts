import { z } from 'zod';
import type { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { type HandlersOf, handler, type Principal } from '../../contract/call/handler.js';
import { scopeMask, scopesOf } from '../../contract/call/scopes.js';
import { FEATURES } from './features.js';

/** Facts of the server besides its features. */
export interface ServerFacts {
  readonly version: string;
  /** Largest request message, in bytes. */
  readonly maxMessageBytes: number;
  /** Most evaluations of one batch or stream message. */
  readonly maxBatch: number;
  /** Messages of one stream that may be pending. */
  readonly streamWindow: number;
  /** The revision that this process evaluates with. */
  readonly revision: () => number;
  readonly state: () => ServerState;
  /** The namespaces that exist. */
  readonly namespaces: NamespaceNames;
}

/** Tells which namespaces exist, and how they are shown. */
export interface NamespaceNames {
  known(name: string): boolean;
  displayName(name: string): string;
  /** Ascending. */
  names(): readonly string[];
}

/** State of the process and of its database. */
export interface ServerState {
  /** Null if the process can evaluate. */
  readonly cannotEvaluateBecause: string | null;
  /** Seconds since the oldest controls in use were last confirmed as current; infinite without any. */
  readonly stalenessSeconds: number;
  readonly controlsFrom: 'database' | 'last_known_good' | 'nothing';
  readonly databaseUp: boolean;
  readonly storage: { readonly state: string; readonly problem: string | null };
  readonly events: {
    readonly enabled: boolean;
    /** Which results of its own evaluations the service records. */
    readonly recorded: 'none' | 'matches' | 'all';
    /** Not stored yet. */
    readonly waiting: number;
    /** Recorded by the process itself, and lost. */
    readonly lost: number;
  };
}

/** Who manages namespaces can work in all of them. */
const EVERY_NAMESPACE = scopeMask(['namespaces.write']);
/** Most agents of a limited caller that are named; more are of no use to a person. */
const MAX_NAMED_AGENTS = 1_000;

/** Tells what the server is, and who calls it. */
export function createServerInfo(
  facts: ServerFacts,
): Pick<HandlersOf<typeof ServerService>, 'getServerInfo'> {
  const { version, maxMessageBytes, maxBatch, streamWindow, revision, state, namespaces } = facts;
  return {
    getServerInfo: handler(z.object({}), (_input, { principal }) => ({
      version,
      revision: revision(),
      features: FEATURES,
      max_message_bytes: maxMessageBytes,
      max_batch: maxBatch,
      stream_window: streamWindow,
      // Without keys, every caller is anonymous and may call everything.
      is_admin: principal.level !== 'key',
      caller_fingerprint: principal.keyFingerprint,
      state: printedState(state()),
      caller_name: principal.name,
      is_limited_to_agents: principal.agents !== null,
      agents: principal.agents?.patterns.slice(0, MAX_NAMED_AGENTS) ?? [],
      namespace: principal.namespace.name,
      namespace_display_name: namespaces.displayName(principal.namespace.name),
      role: principal.role,
      scopes: scopesOf(principal.scopes),
      namespaces: namespacesOf(principal, namespaces),
    })),
  };
}

/** Those that a session can switch to, with its own one. A key, or a token, is for one. */
function namespacesOf(
  { namespace, namespaces = [], scopes, sessionId }: Principal,
  existing: NamespaceNames,
): readonly string[] {
  if (sessionId === undefined) return [namespace.name];
  if ((scopes & EVERY_NAMESPACE) !== 0n) return existing.names();
  return [namespace.name, ...namespaces.filter((name) => existing.known(name))].sort();
}

function printedState({ storage, events, ...state }: ServerState): object {
  return {
    cannot_evaluate_because: state.cannotEvaluateBecause,
    staleness_seconds: Number.isFinite(state.stalenessSeconds) ? Math.max(0, state.stalenessSeconds) : null,
    controls_from: state.controlsFrom,
    database_up: state.databaseUp,
    storage_state: storage.state.toLowerCase(),
    storage_problem: storage.problem,
    events_enabled: events.enabled,
    waiting_events: events.waiting,
    lost_events: events.lost,
    recorded_results: events.recorded,
  };
}
