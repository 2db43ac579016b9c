import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { EvaluationFields, StreamFields } from './evaluation-codec.js';
import { readStep } from './step-reader.js';
import { UNUSUAL, WireReader } from './wire-reader.js';

// The tags below are those of evaluation_service.proto; test/transport/wire/fields.test.ts checks them.

/** Highest field numbers of the messages. */
const EVALUATE_FIELDS = 8;
const BATCH_FIELDS = 1;
const STREAM_FIELDS = 2;

/** Reads an EvaluateRequest. Throws UNUSUAL. */
export function readRequestMessage(bytes: Uint8Array): EvaluationFields {
  return readEvaluation(new WireReader(bytes), bytes.length);
}

/** Reads an EvaluateBatchRequest. Throws UNUSUAL. */
export function readBatchRequest(bytes: Uint8Array): EvaluationFields[] {
  const reader = new WireReader(bytes);
  const end = bytes.length;
  const evaluations: EvaluationFields[] = [];
  while (reader.position < end) {
    if (reader.tag() === 0x0a) evaluations.push(readEvaluation(reader, reader.sectionEnd(end)));
    else reader.skipUnknown(end, BATCH_FIELDS);
  }
  return evaluations;
}

/** Reads an EvaluateStreamRequest. Throws UNUSUAL. */
export function readStreamRequest(bytes: Uint8Array): StreamFields {
  const reader = new WireReader(bytes);
  const end = bytes.length;
  let id = '';
  const evaluations: EvaluationFields[] = [];
  while (reader.position < end) {
    switch (reader.tag()) {
      case 0x0a:
        id = reader.string(end);
        break;
      case 0x12:
        evaluations.push(readEvaluation(reader, reader.sectionEnd(end)));
        break;
      default:
        reader.skipUnknown(end, STREAM_FIELDS);
    }
  }
  return { id, evaluations };
}

function readEvaluation(reader: WireReader, end: number): EvaluationFields {
  let agentName = '';
  let stage = 0;
  let detail = 0;
  let minRevision = 0;
  let step: JsonObject | undefined;
  let stepJson: Uint8Array | undefined;
  let targetType: string | undefined;
  let targetId: string | undefined;
  while (reader.position < end) {
    switch (reader.tag()) {
      case 0x0a:
        agentName = reader.string(end);
        break;
      case 0x10:
        stage = reader.varint(end);
        break;
      case 0x1a:
        // Two steps are merged; a step after a step_json is not.
        if (step !== undefined) throw UNUSUAL;
        step = readStep(reader, reader.sectionEnd(end));
        stepJson = undefined;
        break;
      case 0x22:
        stepJson = reader.bytes(end);
        step = undefined;
        break;
      case 0x28:
        detail = reader.varint(end);
        break;
      case 0x30:
        minRevision = reader.longVarint(end);
        break;
      case 0x3a:
        targetType = reader.string(end);
        break;
      case 0x42:
        targetId = reader.string(end);
        break;
      default:
        reader.skipUnknown(end, EVALUATE_FIELDS);
    }
  }
  return { agentName, stage, detail, step, minRevision, stepJson, targetType, targetId };
}
