/**
 * The evaluation of this service behind @grpc/grpc-js: the same core, program and codec, so that the transport is the
 * only difference.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createEvaluationService } from '../../dist/src/decisions/evaluation-service.js';
import { LoadedProgram } from '../../dist/src/decisions/loaded-program.js';
import { createRandomIds } from '../../dist/src/decisions/random-id.js';
import { createEvaluationCalls } from '../../dist/src/transport/evaluation/evaluation-calls.js';
import { directCodec } from '../../dist/src/transport/wire/direct-codec.js';
import { announce } from './child-server.mjs';
import { programOf } from './core-programs.mjs';
import { agentOf, CONTROLS, controlData } from './grpc-messages.mjs';

const PREFIX_LENGTH = 5;
const SERVICE = '/enforcement.v1.EvaluationService';
/** A caller that may use every agent. */
const CALLER = {
  protocol: 'grpc',
  header: () => undefined,
  spend: () => {},
  tellTargetIgnored: () => {},
  agents: null,
};
const progress = { revision: 1, currentAtMs: 0 };
const READ = { readRevision: 1, readAtMs: 0, isKept: false };

const programs = new Map(
  CONTROLS.map((controls) => {
    const definitions = Array.from({ length: controls }, (_, index) => JSON.stringify(controlData(index)));
    return [agentOf(controls), new LoadedProgram(programOf(definitions), READ)];
  }),
);
const calls = createEvaluationCalls(
  createEvaluationService({
    now: () => 0,
    programs: { progress, programOf: (name) => programs.get(name) },
    newDecisionId: createRandomIds(),
    onVerdict: () => {},
  }),
);

const unframed = (frame) => frame.subarray(PREFIX_LENGTH);
const definition = {
  evaluate: {
    path: `${SERVICE}/Evaluate`,
    requestStream: false,
    responseStream: false,
    requestDeserialize: directCodec.decodeEvaluate,
    responseSerialize: (verdict) => unframed(directCodec.frameVerdict(verdict)),
  },
  evaluateStream: {
    path: `${SERVICE}/EvaluateStream`,
    requestStream: true,
    responseStream: true,
    requestDeserialize: directCodec.decodeStream,
    responseSerialize: (reply) => unframed(directCodec.frameStream([reply])),
  },
};
for (const method of Object.values(definition)) {
  method.requestSerialize = Buffer.from;
  method.responseDeserialize = Buffer.from;
}

const server = new Server();
server.addService(definition, {
  evaluate: (call, done) => done(null, calls.evaluate(call.request, CALLER)),
  evaluateStream(stream) {
    const signal = new AbortController().signal;
    const itemFailed = (error) => {
      throw error;
    };
    stream.on('data', (message) => stream.write(calls.message(message, { ...CALLER, signal, itemFailed })));
    stream.on('end', () => stream.end());
  },
});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  announce(`http://127.0.0.1:${port}`);
});
