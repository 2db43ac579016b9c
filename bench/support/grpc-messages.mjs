/** What the gRPC benchmarks send, and the controls that judge it: half regex, half list, and none matches. */
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { Stage } from '../../dist/gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';

export const BATCH = 32;
/** Numbers of applicable controls; each has an agent of its own. */
export const CONTROLS = (process.env.BENCH_CONTROLS ?? '0,10,100').split(',').map(Number);
/** @param {number} controls */
export const agentOf = (controls) => `bench-agent-${controls}-controls`;

const TEXT = 'Please refund the order of last week to the card that it was paid with. '.repeat(7);
/** A step of about 600 bytes. */
export const STEP = {
  type: 'tool',
  name: 'send_mail',
  input: { to: 'someone@example.org', text: TEXT },
  context: { user: 'u-1' },
};

/**
 * A control as the service stores it.
 * @param {number} index
 */
export function controlData(index) {
  const evaluator =
    index % 2 === 0
      ? { name: 'regex', config: { pattern: `\\bsecret-${index}-\\d{6}\\b` } }
      : { name: 'list', config: { values: [`blocked-${index}`, `denied-${index}`], match_mode: 'contains' } };
  return {
    execution: 'server',
    condition: { selector: { path: 'input.text' }, evaluator },
    action: { decision: 'deny' },
  };
}

const STEP_JSON = Buffer.from(JSON.stringify(STEP));
/** @param {number} controls */
const requestOf = (controls) =>
  create(EvaluateRequestSchema, {
    agentName: agentOf(controls),
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: STEP_JSON },
  });

/**
 * A gRPC message with one evaluation, for Evaluate.
 * @param {number} controls
 */
export const unaryMessage = (controls) => framed(toBinary(EvaluateRequestSchema, requestOf(controls)));

/**
 * The bodies of unary requests of gRPC-Web and Connect, by their media types.
 * @param {number} controls
 */
export const webBodies = (controls) => ({
  'application/grpc-web+proto': unaryMessage(controls),
  'application/proto': Buffer.from(toBinary(EvaluateRequestSchema, requestOf(controls))),
  'application/json': Buffer.from(toJsonString(EvaluateRequestSchema, requestOf(controls))),
});

/**
 * A gRPC message with `count` evaluations, for EvaluateStream.
 * @param {number} controls
 * @param {number} count
 */
export function streamMessage(controls, count) {
  const evaluations = Array.from({ length: count }, () => requestOf(controls));
  const message = create(EvaluateStreamRequestSchema, { id: '1', evaluations });
  return framed(toBinary(EvaluateStreamRequestSchema, message));
}

/**
 * The body of a REST request.
 * @param {number} controls
 */
export const restBody = (controls) =>
  JSON.stringify({ agent_name: agentOf(controls), step: STEP, stage: 'pre' });

/** @param {Uint8Array} message */
function framed(message) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
