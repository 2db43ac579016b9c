import type { Message } from '@bufbuild/protobuf';
import {
  type EvaluateBatchRequest,
  type EvaluateRequest as EvaluateMessage,
  type EvaluateStreamRequest,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { DuplicateMembers, JsonValue } from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../contract/input/parse-input.js';
import {
  type EvaluateRequest,
  evaluateBatchSchema,
  evaluationCountProblem,
  readEvaluateRequest,
} from '../../decide/decisions/evaluate-request.js';
import { evaluationRequestOf } from '../evaluation/evaluation-input.js';
import type { EvaluationMessage, EvaluationRpc } from '../evaluation/heavy-steps.js';
import { readBody } from '../rest/rest-body.js';
import { directCodec } from '../wire/direct-codec.js';
import type { EvaluationFields, StreamFields } from '../wire/evaluation-codec.js';
import { evaluationFieldsOf, streamFieldsOf } from '../wire/evaluation-messages.js';
import { withExactSteps } from '../wire/exact-steps.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { undecodableMessage } from '../wire/message-errors.js';
import { createMessageParser } from '../wire/message-parser.js';

/** An evaluation of a message: its request, or why it is none. */
export interface ReadEvaluationItem {
  readonly detail: number;
  readonly read: { readonly request: EvaluateRequest } | { readonly error: unknown };
}

/** A message with its steps. */
export interface ReadEvaluations {
  readonly id: string;
  readonly cancel: boolean;
  /** Number of evaluations; when there are none or too many, there are no items. */
  readonly count: number;
  readonly items: readonly ReadEvaluationItem[];
}

/** Reads a message as the adapter of its form does. Throws what that throws. */
export function readEvaluations(message: EvaluationMessage, duplicates: DuplicateMembers): ReadEvaluations {
  if (message.form === 'rest') return readRest(message, duplicates);
  const { id, cancel, evaluations } =
    message.form === 'grpc' ? readLane(message) : readConnect(message, message.form === 'binary');
  const count = evaluations.length;
  if (evaluationCountProblem(count) !== undefined) return { id, cancel, count, items: [] };
  const items = evaluations.map((fields) => ({
    detail: fields.detail,
    read: orError(() => evaluationRequestOf(fields, duplicates)),
  }));
  return { id, cancel, count, items };
}

function readRest({ rpc, bytes }: EvaluationMessage, duplicates: DuplicateMembers): ReadEvaluations {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const arrived = readBody({ headers: JSON_HEADERS, body }, duplicates);
  if ('problem' in arrived) throw arrived.problem;
  const requests: readonly JsonValue[] =
    rpc === 'evaluate' ? [arrived.value] : parseInput(evaluateBatchSchema, arrived.value).evaluations;
  return {
    ...NO_STREAM,
    count: requests.length,
    items: requests.map((value) => ({ detail: 0, read: orError(() => readEvaluateRequest(value)) })),
  };
}

const JSON_HEADERS = { 'content-type': MEDIA_TYPES.json };
const NO_STREAM = { id: '', cancel: false };

/** As the fast path of gRPC. */
function readLane({ rpc, bytes }: EvaluationMessage): StreamFields {
  try {
    if (rpc === 'evaluateStream') return directCodec.decodeStream(bytes);
    const evaluations =
      rpc === 'evaluate' ? [directCodec.decodeEvaluate(bytes)] : directCodec.decodeBatch(bytes);
    return { ...NO_STREAM, evaluations };
  } catch (error) {
    throw undecodableMessage(error instanceof Error ? error.message : String(error));
  }
}

const parsers = new Map<EvaluationRpc, (bytes: Uint8Array, isBinary: boolean) => Message>();

/** As Connect, in its three protocols. */
function readConnect({ rpc, bytes }: EvaluationMessage, isBinary: boolean): StreamFields {
  const parse = parsers.get(rpc) ?? createMessageParser(EvaluationService.method[rpc]);
  parsers.set(rpc, parse);
  const message = parse((isBinary ? undefined : withExactSteps(bytes)) ?? bytes, isBinary);
  if (rpc === 'evaluateStream') return streamFieldsOf(message as EvaluateStreamRequest);
  const evaluations: readonly EvaluationFields[] =
    rpc === 'evaluate'
      ? [evaluationFieldsOf(message as EvaluateMessage)]
      : (message as EvaluateBatchRequest).evaluations.map(evaluationFieldsOf);
  return { ...NO_STREAM, evaluations };
}

function orError(read: () => EvaluateRequest): ReadEvaluationItem['read'] {
  try {
    return { request: read() };
  } catch (error) {
    return { error };
  }
}
