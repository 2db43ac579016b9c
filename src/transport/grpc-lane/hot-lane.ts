import type { IncomingHttpHeaders } from 'node:http';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { ConnectError } from '@connectrpc/connect';
import { mismatchWarning } from '../../core/step-schemas.js';
import type { RevisedVerdict } from '../../decisions/evaluation-service.js';
import type { Admission } from '../admission/admission.js';
import { apiKeyOf } from '../auth/request-credentials.js';
import { type CallRoute, rpcRoute } from '../call/call-host.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { mismatchesOf, stalenessOf } from '../evaluation/evaluation-calls.js';
import { onlyEvaluation } from '../evaluation/heavy-steps.js';
import type { StreamTaker } from '../listener/http2-server.js';
import type { EvaluationFields, EvaluationOutcome } from '../wire/evaluation-codec.js';
import type { LaneCall } from './lane-call.js';
import type { LaneEnvironment, StoppableCall } from './lane-environment.js';
import { StreamCall } from './stream-call.js';
import { Turns } from './turns.js';
import { UnaryCall, type UnaryWork } from './unary-call.js';

export interface HotLaneOptions extends Omit<LaneEnvironment, 'running'> {
  /** The methods of EvaluationService by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
  /** Aborted when running calls have to end; the reason is their status. */
  readonly shutdownSignal: AbortSignal;
}

type StartCall = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => LaneCall;

/**
 * Fast path for the calls that agents make for every step: plain gRPC over HTTP/2 without compression is
 * served directly on the HTTP/2 stream, bypassing Fastify and Connect, which cost several times as much as an
 * evaluation. Everything else, and every doubtful case, is left to them. Clients see no difference;
 * test/transport/grpc-lane checks that.
 */
export function createHotLane(options: HotLaneOptions): StreamTaker {
  const running = new Set<StoppableCall>();
  const env: LaneEnvironment = { ...options, running };
  const { calls, codec } = options;
  const turnsOf = turnsBySession(options.admission);
  options.shutdownSignal.addEventListener('abort', () => {
    for (const call of running) call.stop(options.shutdownSignal.reason as ConnectError);
  });

  const evaluate: UnaryWork<EvaluationFields> = {
    rpc: 'evaluate',
    decode: codec.decodeEvaluate,
    held: onlyEvaluation,
    answer(fields, call) {
      const verdict = calls.evaluate(fields, call);
      const reply = (made: RevisedVerdict): Buffer => {
        call.reportRevision(made.revision);
        if (made.staleness_seconds !== null) call.reportStaleness(made.staleness_seconds);
        if (made.schema_mismatch !== null) call.warn([mismatchWarning(made.schema_mismatch)]);
        return codec.frameVerdict(made);
      };
      return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
    },
  };
  const batch: UnaryWork<readonly EvaluationFields[]> = {
    rpc: 'evaluateBatch',
    decode: codec.decodeBatch,
    held: ({ evaluations }) => evaluations,
    answer(evaluations, call) {
      const outcomes = calls.batch(evaluations, call);
      const reply = (made: readonly EvaluationOutcome[]): Buffer => {
        const staleness = stalenessOf(made);
        if (staleness !== null) call.reportStaleness(staleness);
        call.warn(mismatchesOf(made));
        return codec.frameBatch(made);
      };
      return outcomes instanceof Promise ? outcomes.then(reply) : reply(outcomes);
    },
  };
  const kinds: Readonly<Record<string, (route: CallRoute) => StartCall>> = {
    Evaluate: (route) => (stream, headers) => new UnaryCall(env, route, stream, headers, evaluate),
    EvaluateBatch: (route) => (stream, headers) => new UnaryCall(env, route, stream, headers, batch),
    EvaluateStream: (route) => (stream, headers) =>
      new StreamCall(env, route, stream, headers, turnsOf(stream.session)),
  };
  const lanes = new Map<string | undefined, StartCall>();
  for (const [name, kind] of Object.entries(kinds)) {
    const found = options.methods.get(name);
    if (found === undefined) throw new Error(`EvaluationService has no method ${name}`);
    const route = rpcRoute(options.metrics, found, found.name, 'grpc', found.desc.methodKind !== 'unary');
    lanes.set(route.path, kind(route));
  }

  return (stream, headers, rawHeaders) => {
    const create = lanes.get(headers[':path'] as string | undefined);
    if (create === undefined || !isPlainGrpc(headers)) return false;
    const apiKey = apiKeyOf({ headers, rawHeaders });
    // Its verification is asynchronous.
    if (options.entrance.isUnverified(apiKey)) return false;
    create(stream, headers).start(apiKey);
    return true;
  };
}

function isPlainGrpc(headers: IncomingHttpHeaders): boolean {
  const contentType = headers['content-type'];
  if (contentType !== 'application/grpc' && contentType !== 'application/grpc+proto') return false;
  if (headers[':method'] !== 'POST' || headers.expect !== undefined) return false;
  // Browsers do not use plain gRPC; whether a page may act is checked elsewhere.
  if (headers.origin !== undefined) return false;
  const encoding = headers['grpc-encoding'];
  return encoding === undefined || encoding === 'identity';
}

function turnsBySession(admission: Pick<Admission, 'peerOf'>): (session: Http2Session | undefined) => Turns {
  const known = new WeakMap<Http2Session, Turns>();
  return (session) => {
    const existing = session && known.get(session);
    if (existing !== undefined) return existing;
    const turns = new Turns(admission.peerOf(session));
    if (session !== undefined) known.set(session, turns);
    return turns;
  };
}
