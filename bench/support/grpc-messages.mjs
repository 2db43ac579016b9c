/** What the gRPC benchmarks send, and the controls that judge it: half regex, half list, and none matches. */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';

export const BATCH = 32;
/** Numbers of applicable controls; each has an agent of its own. */
export const CONTROLS = [0, 10, 100];
export const agentOf = (controls) => `bench-agent-${controls}-controls`;

const TEXT = 'Please refund the order of last week to the card that it was paid with. '.repeat(7);
/** A step of about 600 bytes. */
export const STEP = {
  type: 'tool',
  name: 'send_mail',
  input: { to: 'someone@example.org', text: TEXT },
  context: { user: 'u-1' },
};

/** A control as the service stores it. */
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
const requestOf = (controls) => ({
  agentName: agentOf(controls),
  stage: 1,
  stepForm: { case: 'stepJson', value: STEP_JSON },
});

/** A gRPC message with one evaluation, for Evaluate. */
export const unaryMessage = (controls) => framed(EvaluateRequestSchema, requestOf(controls));
/** A gRPC message with `count` evaluations, for EvaluateStream. */
export const streamMessage = (controls, count) =>
  framed(EvaluateStreamRequestSchema, { id: '1', evaluations: Array(count).fill(requestOf(controls)) });
/** The body of a REST request. */
export const restBody = (controls) =>
  JSON.stringify({ agent_name: agentOf(controls), step: STEP, stage: 'pre' });

function framed(desc, init) {
  const message = toBinary(desc, create(desc, init));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
