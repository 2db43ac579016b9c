/**
 * The evaluation of this service behind @grpc/grpc-js: the same core, program and codec, so that the transport is the
 * only difference.
 */

import { Server, ServerCredentials } from '@grpc/grpc-js';
import { ANONYMOUS } from '../../dist/src/contract/call/handler.js';
import { DEFAULT_NAMESPACE } from '../../dist/src/contract/call/namespace.js';
import { createEvaluationService } from '../../dist/src/decide/decisions/evaluation-service.js';
import { LoadedProgram } from '../../dist/src/decide/decisions/loaded-program.js';
import { createRandomIds } from '../../dist/src/decide/decisions/random-id.js';
import { createEvaluationCalls } from '../../dist/src/serve/evaluation/evaluation-calls.js';
import { directCodec } from '../../dist/src/serve/wire/direct-codec.js';
import { announce } from './child-server.mjs';
import { programOf as linkedProgramOf } from './core-programs.mjs';
import { agentOf, CONTROLS, controlData } from './grpc-messages.mjs';

/**
 * @import { MethodDefinition, ServerDuplexStream, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
 * @import { RevisedVerdict } from '../../dist/src/decide/decisions/revised-verdict.js'
 * @import { RpcCaller } from '../../dist/src/serve/call/call-host.js'
 * @import { EvaluationFields, StreamFields, StreamReply } from '../../dist/src/serve/wire/evaluation-codec.js'
 */

const PREFIX_LENGTH = 5;
const SERVICE = '/enforcement.v1.EvaluationService';
/**
 * A caller that may use every agent.
 * @type {RpcCaller}
 */
const CALLER = {
  protocol: 'grpc',
  principal: ANONYMOUS,
  address: null,
  requestId: '',
  signal: new AbortController().signal,
  agents: null,
  namespace: DEFAULT_NAMESPACE,
  target: null,
  header: () => undefined,
  spend: () => {},
  itemFailed(error) {
    throw error;
  },
};
const progress = { revision: 1, currentAtMs: 0 };
const READ = { readRevision: 1, readAtMs: 0, isKept: false };

const programs = new Map(
  CONTROLS.map((controls) => {
    const definitions = Array.from({ length: controls }, (_, index) => JSON.stringify(controlData(index)));
    return [agentOf(controls), new LoadedProgram(linkedProgramOf(definitions), READ)];
  }),
);

/** @param {string} name */
function programOf(name) {
  const program = programs.get(name);
  if (program === undefined) throw new Error(`${name} has no controls`);
  return program;
}

const calls = createEvaluationCalls(
  createEvaluationService({
    now: () => 0,
    programs: { progress, programOf },
    newDecisionId: createRandomIds(),
    observers: [],
  }),
  'refuse',
);

/**
 * A method of which only the server is used.
 * @template I, O
 * @param {string} name
 * @param {boolean} isStream
 * @param {(bytes: Buffer) => I} decode
 * @param {(reply: O) => Buffer} frameOf
 * @returns {MethodDefinition<I, O>}
 */
function methodOf(name, isStream, decode, frameOf) {
  const isServerOnly = () => {
    throw new Error('this program has no client');
  };
  return {
    path: `${SERVICE}/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestDeserialize: decode,
    responseSerialize: (reply) => frameOf(reply).subarray(PREFIX_LENGTH),
    requestSerialize: isServerOnly,
    responseDeserialize: isServerOnly,
  };
}

const server = new Server();
server.addService(
  {
    evaluate: methodOf('Evaluate', false, directCodec.decodeEvaluate, directCodec.frameVerdict),
    evaluateStream: methodOf(
      'EvaluateStream',
      true,
      directCodec.decodeStream,
      (/** @type {StreamReply} */ reply) => directCodec.frameStream([reply]),
    ),
  },
  {
    /**
     * @param {ServerUnaryCall<EvaluationFields, RevisedVerdict>} call
     * @param {sendUnaryData<RevisedVerdict>} done
     */
    evaluate: (call, done) =>
      whenDone(calls.evaluate(call.request, CALLER), (verdict) => done(null, verdict)),
    /** @param {ServerDuplexStream<StreamFields, StreamReply>} stream */
    evaluateStream(stream) {
      stream.on('data', (message) =>
        whenDone(calls.message(message, CALLER), (reply) => stream.write(reply)),
      );
      stream.on('end', () => stream.end());
    },
  },
);

/**
 * Uses a reply in this turn unless it is a promise.
 * @template T
 * @param {T | Promise<T>} reply
 * @param {(reply: T) => void} use
 */
function whenDone(reply, use) {
  if (reply instanceof Promise) reply.then(use);
  else use(reply);
}

server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  announce(`http://127.0.0.1:${port}`);
});
